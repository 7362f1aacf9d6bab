/** The entry of QStash's API as a dialect: a deployment answers requests as QStash does. */
import type { DeploymentTools } from "../deploy/declared/tools.ts";
import type { DeploymentPart } from "../deploy/deployment-part.ts";
import type { Task } from "../drain/types.ts";
import type { DeadLetter } from "../kernel/record/dead-letter.ts";
import type { Open } from "../open/opening.ts";
import { type Message, messages, ordered, type Publication } from "./message.ts";
import { type QStashGiven, settingsOf } from "./options.ts";
import { sessionOf, storedOf } from "./session.ts";

export type { DeploymentPart } from "../deploy/deployment-part.ts";
export type { QStashGiven, QStashOptions } from "./options.ts";

/** What opens the queues of the deployment, among the tools of its consumers. */
const OPEN = Symbol("qstash.open");

/** Most deliveries of an invocation or a process at once, for each of the two queues: a slow receiver delays few others. */
const CONCURRENCY = 100;

/**
 * Answers requests below `/v2` as QStash does, and delivers their messages.
 * @param given its options, or a function of the environment that returns them
 * @throws {SluiceError} `invalid_argument`; the message contains no secret
 * @example
 * export default sluice({ order, qstash: qstash((env) => ({ token: env.QSTASH_TOKEN, signingKeys: [env.CURRENT, env.NEXT], allow: ["api.example.com"] })) });
 */
export function qstash<Env extends object = object>(given: QStashGiven<Env>): DeploymentPart {
  const settings = settingsOf(given);
  const sessionIn = (env: Env, tools: object) =>
    sessionOf(settings(env), (tools as { readonly [OPEN]: Open })[OPEN]);
  const consumerOf = (queue: typeof messages) => {
    const handler = async (task: Task<Message | Publication>, env: Env, tools: object) => {
      const { deliver } = await import("./deliver/attempt.ts");
      return deliver(task, queue.name, sessionIn(env, tools));
    };
    const onDeadLetter = async (letter: DeadLetter, tools: DeploymentTools<Env>) => {
      const { reportLost } = await import("./deliver/lost.ts");
      await reportLost(letter, sessionIn(tools.env, tools));
    };
    const options = { concurrency: CONCURRENCY, requestsPerTask: 2 };
    return queue.consumer<Env>(Object.assign(handler, { onDeadLetter }), options);
  };
  return {
    paths: ["/v2/*", "/llm/*"],
    isApart: true,
    routes: async () => (await import("./routes/router.ts")).routesFor(settings),
    consumers: [consumerOf(messages), consumerOf(ordered)],
    async apply({ open, signal }) {
      const { forgetLimits } = await import("./flow-control/needed.ts");
      await forgetLimits(storedOf(open), signal);
    },
    tools: (open) => ({ [OPEN]: open }),
  };
}
