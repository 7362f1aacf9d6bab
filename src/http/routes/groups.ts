import { operatorOf } from "../../open/operator.ts";
import { Problem, taskNotFound } from "../problems/problem.ts";
import { noFields, readBody, readPath, readQuery, requestOptions } from "../request/read.ts";
import { groupsQuery } from "../request-schemas/queues.ts";
import { idInPath } from "../request-schemas/tasks.ts";
import type * as replies from "../response-schemas/queues.ts";
import { reply } from "../responses/reply.ts";
import type { App, Services } from "../services.ts";

/** List the groups of a queue that have waiting tasks, and those that are stopped, and let these go on. */
export function groupRoutes(app: App, services: Services): void {
  app.get("/v1/queues/:queue/groups", services.allow("view"), async (c) => {
    const query = readQuery(c, groupsQuery);
    return reply<typeof replies.groups>(await operatorOf(c.get("open")).groups(query));
  });

  app.get("/v1/queues/:queue/stopped-groups", services.allow("view"), async (c) => {
    const query = readQuery(c, groupsQuery);
    return reply<typeof replies.stoppedGroups>(await operatorOf(c.get("open")).stoppedGroups(query));
  });

  app.post("/v1/queues/:queue/tasks/:id/skip", services.allow("admin"), async (c) => {
    const options = requestOptions(c);
    await readBody(c, services, noFields, "optional");
    const { id } = readPath(c, idInPath);
    const skipped = await operatorOf(c.get("open")).skip(id, options);
    if (!skipped.ok) throw skipped.code === "not_found" ? taskNotFound() : new Problem(skipped.code);
    return reply<typeof replies.skipped>({ id, skipped: true });
  });
}
