import { operatorOf } from "../../open/operator.ts";
import { countQueues, type CountedQueue } from "../../operate/count-queues.ts";
import { listQueues } from "../../sweep/registry.ts";
import { noFields, readBody, readPath, readQuery, requestOptions } from "../request/read.ts";
import { requireOrder } from "../request/required-parts.ts";
import type { App, RequestContext, Services } from "../services.ts";
import { Problem } from "../problems/problem.ts";
import type * as replies from "../response-schemas/queues.ts";
import { historyReply } from "../responses/overview.ts";
import { reply } from "../responses/reply.ts";
import * as schemas from "../request-schemas/queues.ts";

/** List, count, delete, pause and configure queues, and configure groups. */
export function queueRoutes(app: App, services: Services): void {
  const { transport, prefix, allow } = services;
  const operator = (c: RequestContext) => operatorOf(c.get("open"));

  app.get("/v1/queues", allow("view"), async (c) => {
    const { counts: wanted, ...query } = readQuery(c, schemas.queuesQuery);
    const page = await listQueues(transport, { prefix, ...query });
    const queues = page.queues.filter(({ name }) => c.get("grants").allows("view", name));
    const names = queues.map(({ name }) => name);
    const counted = wanted ? await countQueues(transport, names, { prefix }) : [];
    return reply<typeof replies.queues>({
      queues: queues.map((queue, i) => ({ ...queue, ...(wanted && { counts: countsOf(counted[i]) }) })),
      cursor: page.cursor,
    });
  });

  app.get("/v1/queues/:queue", allow("view"), async (c) => {
    readQuery(c);
    return reply<typeof replies.queue>(await c.get("open").queue().counts());
  });

  app.delete("/v1/queues/:queue", allow("admin"), async (c) => {
    const deleted = await operator(c).deleteQueue(requestOptions(c, schemas.deleteQueueQuery));
    if (!deleted.ok) {
      const { working, ofFlows = 0 } = deleted;
      const tasks = `${working} tasks of the queue are working. Pause the queue and wait`;
      const flows = `Flows that have not ended need the queue (tasks and inner flows of them: ${ofFlows}). Cancel them, and let what works end`;
      const detail = `${ofFlows > 0 ? flows : tasks}; or delete it with \`force=true\`.`;
      throw new Problem(deleted.code, { detail });
    }
    return reply<typeof replies.queueDeleted>({ queue: c.get("open").name, deleted: true });
  });

  app.post("/v1/queues/:queue/pause", allow("admin"), async (c) => {
    const options = requestOptions(c);
    const pause = await readBody(c, services, schemas.pause, "optional");
    return reply<typeof replies.queueSettings>(await operator(c).pause({ ...pause, ...options }));
  });

  app.post("/v1/queues/:queue/resume", allow("admin"), async (c) => {
    const options = requestOptions(c);
    await readBody(c, services, noFields, "optional");
    return reply<typeof replies.queueSettings>(await operator(c).resume(options));
  });

  app.get("/v1/queues/:queue/settings", allow("view"), async (c) => {
    readQuery(c);
    return reply<typeof replies.queueSettings>(await operator(c).settings());
  });

  app.patch("/v1/queues/:queue/settings", allow("admin"), async (c) => {
    const options = requestOptions(c);
    const changes = await readBody(c, services, schemas.queueChanges);
    requireOrder(services, changes);
    return reply<typeof replies.queueSettings>(await operator(c).configure(changes, options));
  });

  app.get("/v1/queues/:queue/groups/:group", allow("view"), async (c) => {
    readQuery(c);
    return reply<typeof replies.group>(
      await operator(c).groupSettings(readPath(c, schemas.groupInPath).group),
    );
  });

  app.patch("/v1/queues/:queue/groups/:group", allow("admin"), async (c) => {
    const options = requestOptions(c);
    const { group } = readPath(c, schemas.groupInPath);
    const changes = await readBody(c, services, schemas.groupChanges);
    requireOrder(services, changes);
    return reply<typeof replies.groupSettings>(await operator(c).configureGroup(group, changes, options));
  });

  app.get("/v1/queues/:queue/statistics", allow("view"), async (c) => {
    const query = readQuery(c, schemas.statisticsQuery);
    const { history, ...statistics } = await operator(c).statistics(query);
    return reply<typeof replies.statistics>({
      ...statistics,
      ...(history && { history: historyReply(history) }),
    });
  });
}

function countsOf(counted: CountedQueue | undefined) {
  if (!counted || "code" in counted) return null;
  const { queue: _, ...counts } = counted;
  return counts;
}
