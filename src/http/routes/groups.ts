import { Operator } from "../../queue/operate/operator.ts";
import { json } from "../../respond.ts";
import { readQuery } from "../request/read.ts";
import { groupsQuery } from "../request-schemas/queues.ts";
import type * as replies from "../response-schemas/queues.ts";
import type { ReplyOf } from "../response-schemas/values.ts";
import type { App, Services } from "../services.ts";

/** List the groups of a queue that have waiting tasks. */
export function groupRoutes(app: App, services: Services): void {
  app.get("/v1/queues/:queue/groups", services.allow("view"), async (c) => {
    const operator = new Operator(c.get("definition"), services);
    const reply: ReplyOf<typeof replies.groups> = await operator.groups(readQuery(c, groupsQuery));
    return json(reply);
  });
}
