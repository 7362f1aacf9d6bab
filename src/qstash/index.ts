/** The entry of QStash's API as a dialect: a deployment answers requests as QStash does. */
import type { DeploymentPart } from "../deploy/deployment-part.ts";
import type { Task } from "../drain/types.ts";
import type { Open } from "../open/opening.ts";
import { type Message, messages, ordered, type Publication } from "./message.ts";
import { type QStashGiven, settingsOf } from "./options.ts";
import { sessionOf } from "./session.ts";

export type { QStashGiven, QStashOptions } from "./options.ts";

/** What opens the queues of the deployment, among the tools of its consumers. */
const OPEN = Symbol("qstash.open");

/** Most deliveries of an invocation or a process at once, for each of the two queues. */
const CONCURRENCY = 20;

/**
 * Answers requests below `/v2` as QStash does, and delivers their messages.
 * @param given its options, or a function of the environment that returns them
 * @throws {SluiceError} `invalid_argument`; the message contains no secret
 * @example
 * export default sluice({ order, qstash: qstash((env) => ({ token: env.QSTASH_TOKEN, signingKeys: [env.CURRENT, env.NEXT], allow: ["api.example.com"] })) });
 */
export function qstash<Env extends object = object>(given: QStashGiven<Env>): DeploymentPart {
  const settings = settingsOf(given);
  const handler = async (task: Task<Message | Publication>, env: Env, tools: object) => {
    const { deliver } = await import("./deliver.ts");
    const session = sessionOf(settings(env), (tools as { readonly [OPEN]: Open })[OPEN]);
    return deliver(task, session);
  };
  const options = { concurrency: CONCURRENCY };
  return {
    paths: ["/v2/*"],
    isApart: true,
    routes: async () => (await import("./routes/router.ts")).routesFor(settings),
    consumers: [messages.consumer<Env>(handler, options), ordered.consumer<Env>(handler, options)],
    tools: (open) => ({ [OPEN]: open }),
  };
}
