import { databaseDiagnostics, queueDiagnostics } from "../../operate/diagnostics.ts";
import { loaded } from "../parts.ts";
import { readQuery } from "../request/read.ts";
import type { App, Services } from "../services.ts";
import type * as replies from "../response-schemas/diagnostics.ts";
import { reply } from "../responses/reply.ts";

const NOT_SHOWN = {
  version: null,
  evictionPolicy: null,
  usedMemory: null,
  maxMemory: null,
  appendOnly: null,
} as const;

/** What the caller's token may do, and the state of Redis and of a queue's keys. */
export function diagnosticsRoutes(app: App, { transport, prefix, allow, deepSweep }: Services): void {
  app.get("/v1/token", allow("enqueue", "consume", "view"), (c) => {
    readQuery(c);
    return reply<typeof replies.token>({ grants: c.get("grants").ofToken() });
  });

  app.get("/v1/diagnostics", allow("view"), async (c) => {
    readQuery(c);
    const { now, roundTrip, ...ofDatabase } = await databaseDiagnostics(transport, { prefix });
    // What concerns all of the database is for operators of all queues.
    const shown = c.get("grants").allowsAll("view") ? ofDatabase : NOT_SHOWN;
    return reply<typeof replies.database>({ now, roundTrip, ...shown });
  });

  app.get("/v1/queues/:queue/diagnostics", allow("view"), async (c) => {
    readQuery(c);
    const { name } = c.get("open");
    const check = deepSweep && (await loaded(deepSweep)).check;
    return reply<typeof replies.queue>(await queueDiagnostics(transport, name, { prefix }, check));
  });
}
