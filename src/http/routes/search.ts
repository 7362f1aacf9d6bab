import { findAmong } from "../../open/find-tasks.ts";
import { operatorOf } from "../../open/operator.ts";
import { opening } from "../../open/opening.ts";
import { forbidden } from "../auth/authenticator.ts";
import { readQuery } from "../request/read.ts";
import { searchQuery } from "../request-schemas/search.ts";
import type * as replies from "../response-schemas/search.ts";
import { reply } from "../responses/reply.ts";
import { hidePayloads, taskReply } from "../responses/task-reply.ts";
import type { App, Services } from "../services.ts";

/** Search the queues that the caller may see. */
export function searchRoutes(app: App, { transport, prefix, allow, optionsOf }: Services): void {
  app.get("/v1/search", allow("view"), async (c) => {
    const query = readQuery(c, searchQuery);
    const grants = c.get("grants");
    const { queues = "*" } = query;
    if (!queues.includes("*") && !grants.allows("view", queues)) throw forbidden(["view"], queues);
    const open = opening(optionsOf(c));
    const hides = (name: string) => grants.hidesPayloads(name, "view");
    const { tasks, ...found } = await findAmong(
      transport,
      { ...query, prefix },
      (name) => grants.allows("view", name),
      (name) => ({
        search: (options) => operatorOf(open(name)).search({ ...options, values: !hides(name) }),
        get: (id) => open(name).queue().get(id),
      }),
    );
    const visible = tasks.map((task) => (hides(task.queue) ? hidePayloads(task) : task));
    return reply<typeof replies.found>({
      tasks: visible.map((task) => ({ ...taskReply(task), found: task.found })),
      ...found,
    });
  });
}
