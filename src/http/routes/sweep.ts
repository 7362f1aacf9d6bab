import { sweepWith } from "../../open/sweep-with.ts";
import type { Duration } from "../../kernel/options/duration.ts";
import { forbidden } from "../auth/authenticator.ts";
import { budgetOf, readBody, readQuery, requestOptions } from "../request/read.ts";
import { type App, propsOf, type RequestContext, type Services, waitUntilOf } from "../services.ts";
import { isOff, loaded } from "../parts.ts";
import { Problem } from "../problems/problem.ts";
import { methodNotAllowed } from "../request/methods.ts";
import type * as replies from "../response-schemas/sweep.ts";
import { reply } from "../responses/reply.ts";
import * as schemas from "../request-schemas/sweep.ts";

const OFF = isOff("has no deep sweep", "deepSweep", "deep-sweep");

/** The sweep, which a cron calls over HTTP, and the deep sweep. */
export function sweepRoutes(app: App, services: Services): void {
  const { allow, optionsOf } = services;
  const { beforeSweep, afterSweep, sweptStore, sweepParts, deepSweep } = services;

  const run = async (c: RequestContext, requested?: Duration) => {
    const budget = budgetOf(services, requested);
    const queues = sweepableBy(c);
    await beforeSweep?.(propsOf(c));
    const { transport, prefix, wake, onDeadLetter } = optionsOf(c);
    const options = { budget, queues, prefix, wake, onDeadLetter, offload: sweptStore };
    const report = await sweepWith(sweepParts, transport, options);
    const evaluated = afterSweep?.(propsOf(c));
    const waitUntil = waitUntilOf(c);
    if (evaluated && waitUntil) waitUntil(evaluated);
    else await evaluated;
    return reply<typeof replies.swept>(report);
  };

  app.post("/v1/sweep", allow("admin", "cron"), async (c) => {
    requestOptions(c);
    const body = await readBody(c, services, sweepSchema, "optional");
    if (!("deep" in body)) return run(c, body.budget);
    if (!deepSweep) throw new Problem("unsupported", { detail: OFF });
    const { deep: _, budget, ...options } = body;
    const queues = sweepableBy(c);
    if (options.queue !== undefined && !queues(options.queue)) throw forbidden(["admin"], options.queue);
    const { transport, prefix, onDeadLetter } = optionsOf(c);
    const limits = { budget: budgetOf(services, budget), queues };
    const { sweep } = await loaded(deepSweep);
    const report = await sweep(transport, { ...options, ...limits, prefix, onDeadLetter });
    return reply<typeof replies.deepSwept>(report);
  });

  // For platforms whose cron can only GET. They send the cron secret. A token is accepted only with POST.
  app.get("/v1/sweep", allow("cron"), async (c) => {
    if (c.req.method === "HEAD") throw methodNotAllowed(["GET", "POST"]);
    readQuery(c);
    return run(c);
  });
}

function sweepableBy(c: RequestContext): (queue: string) => boolean {
  const grants = c.get("grants");
  return (queue) => grants.allows("cron", queue) || grants.allows("admin", queue);
}

/** Chooses the schema before the check, so that the errors are those of the form that the caller means. */
function sweepSchema(body: unknown): typeof schemas.sweep | typeof schemas.deepSweep {
  const deep = typeof body === "object" && body !== null && Object.hasOwn(body, "deep");
  return deep ? schemas.deepSweep : schemas.sweep;
}
