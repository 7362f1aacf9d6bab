import { listQueues } from "../../queue/registry.ts";
import { queuesQuery } from "../schemas/queues.ts";
import { type App, readQuery, type Services } from "../context.ts";
import type * as replies from "../replies/queues.ts";
import type { ReplyOf } from "../replies/values.ts";

/** Looking at queues. */
export function queueRoutes(app: App, { transport, prefix, allow }: Services): void {
  app.get("/v1/queues", allow("admin"), async (c) => {
    const { cursor } = readQuery(c, queuesQuery);
    const page = await listQueues(transport, { prefix, cursor });
    const reply: ReplyOf<typeof replies.queues> = {
      queues: page.queues.filter(({ name }) => c.var.grants.allows("admin", name)),
      cursor: page.cursor,
    };
    return c.json(reply);
  });

  app.get("/v1/queues/:queue", allow("admin"), async (c) => {
    readQuery(c);
    const reply: ReplyOf<typeof replies.queue> = await c.var.queue.counts();
    return c.json(reply);
  });
}
