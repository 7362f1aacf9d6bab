import { sweep } from "../../queue/sweep.ts";
import type { Duration } from "../../queue/types.ts";
import {
  type App,
  budgetOf,
  type Call,
  readBody,
  readQuery,
  requestOptions,
  type Services,
} from "../context.ts";
import { methodNotAllowed } from "../methods.ts";
import type * as replies from "../replies/operation.ts";
import type { ReplyOf } from "../replies/values.ts";
import * as schemas from "../schemas/operation.ts";

/** What cron calls where there is no cron binding. */
export function sweepRoutes(app: App, services: Services): void {
  const { transport, prefix, allow } = services;

  const run = async (c: Call, wanted?: Duration) => {
    const budget = budgetOf(wanted);
    const { grants } = c.var;
    const queues = (name: string) => grants.allows("cron", name) || grants.allows("admin", name);
    const reply: ReplyOf<typeof replies.swept> = await sweep(transport, { budget, prefix, queues });
    return c.json(reply);
  };

  app.post("/v1/sweep", allow("admin", "cron"), async (c) => {
    requestOptions(c);
    readQuery(c);
    const { budget } = await readBody(c, services, schemas.sweep, "optional");
    return run(c, budget);
  });

  // Platforms whose cron can only GET send their secret along; a token is for POST.
  app.get("/v1/sweep", allow("cron"), async (c) => {
    if (c.req.method === "HEAD") throw methodNotAllowed(["GET", "POST"]);
    readQuery(c);
    return run(c);
  });
}
