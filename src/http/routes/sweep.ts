import { deepSweep } from "../../queue/repair/deep-sweep.ts";
import { sweep } from "../../queue/sweep/sweep.ts";
import type { Duration } from "../../queue/core/duration.ts";
import { json } from "../responses/respond.ts";
import { forbidden } from "../auth/authenticator.ts";
import {
  type App,
  budgetOf,
  type Call,
  readBody,
  readQuery,
  requestOptions,
  type Services,
} from "../request/context.ts";
import { methodNotAllowed } from "../request/methods.ts";
import type * as replies from "../replies/operation.ts";
import type { ReplyOf } from "../replies/values.ts";
import * as schemas from "../schemas/operation.ts";

/** What cron calls where there is no cron binding, and the deep sweep. */
export function sweepRoutes(app: App, services: Services): void {
  const { transport, prefix, allow, wakerOf } = services;

  const run = async (c: Call, wanted?: Duration) => {
    const budget = budgetOf(services, wanted);
    const queues = mayBeSweptBy(c);
    const wake = wakerOf(c);
    const reply: ReplyOf<typeof replies.swept> = await sweep(transport, { budget, prefix, queues, wake });
    return json(reply);
  };

  app.post("/v1/sweep", allow("admin", "cron"), async (c) => {
    requestOptions(c);
    readQuery(c);
    const body = await readBody(c, services, plainOrDeep, "optional");
    if (!("deep" in body)) return run(c, body.budget);
    const { deep: _, budget, ...options } = body;
    const queues = mayBeSweptBy(c);
    if (options.queue !== undefined && !queues(options.queue)) throw forbidden(["admin"], options.queue);
    const within = { budget: budgetOf(services, budget), prefix, queues };
    const reply: ReplyOf<typeof replies.deepSwept> = await deepSweep(transport, { ...options, ...within });
    return json(reply);
  });

  // Platforms whose cron can only GET send their secret along; a token is for POST.
  app.get("/v1/sweep", allow("cron"), async (c) => {
    if (c.req.method === "HEAD") throw methodNotAllowed(["GET", "POST"]);
    readQuery(c);
    return run(c);
  });
}

function mayBeSweptBy(c: Call): (queue: string) => boolean {
  const grants = c.get("grants");
  return (queue) => grants.allows("cron", queue) || grants.allows("admin", queue);
}

/** Chosen before it is checked, so that faults are told of the form that was meant. */
function plainOrDeep(body: unknown): typeof schemas.sweep | typeof schemas.deepSweep {
  const deep = typeof body === "object" && body !== null && Object.hasOwn(body, "deep");
  return deep ? schemas.deepSweep : schemas.sweep;
}
