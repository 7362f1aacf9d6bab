import { operatorOf } from "../../open/operator.ts";
import { readQuery } from "../request/read.ts";
import { groupsQuery } from "../request-schemas/queues.ts";
import type * as replies from "../response-schemas/queues.ts";
import { reply } from "../responses/reply.ts";
import type { App, Services } from "../services.ts";

/** List the groups of a queue that have waiting tasks. */
export function groupRoutes(app: App, services: Services): void {
  app.get("/v1/queues/:queue/groups", services.allow("view"), async (c) => {
    const query = readQuery(c, groupsQuery);
    return reply<typeof replies.groups>(await operatorOf(c.get("open")).groups(query));
  });
}
