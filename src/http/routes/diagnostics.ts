import { databaseDiagnostics, queueDiagnostics } from "../../queue/repair/diagnostics.ts";
import { json } from "../../respond.ts";
import { readQuery } from "../request/read.ts";
import type { App, Services } from "../services.ts";
import type * as replies from "../response-schemas/diagnostics.ts";
import type { ReplyOf } from "../response-schemas/values.ts";

/** What the caller's token may do, and the state of Redis and of a queue's keys. */
export function diagnosticsRoutes(app: App, { transport, prefix, allow }: Services): void {
  app.get("/v1/token", allow("enqueue", "consume", "admin"), (c) => {
    readQuery(c);
    const grants = c.get("grants").list.flatMap(({ scopes, queues }) => {
      const own = scopes.filter((scope) => scope !== "cron");
      return own.length === 0 ? [] : [{ scopes: own, queues }];
    });
    const reply: ReplyOf<typeof replies.token> = { grants };
    return json(reply);
  });

  app.get("/v1/diagnostics", allow("admin"), async (c) => {
    readQuery(c);
    const reply: ReplyOf<typeof replies.database> = await databaseDiagnostics(transport, { prefix });
    return json(reply);
  });

  app.get("/v1/queues/:queue/diagnostics", allow("admin"), async (c) => {
    readQuery(c);
    const { name } = c.get("queue");
    const reply: ReplyOf<typeof replies.queue> = await queueDiagnostics(transport, name, { prefix });
    return json(reply);
  });
}
