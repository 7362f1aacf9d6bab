import { checkOrder } from "../../deploy/declared/checked-order.ts";
import { type AddedFlow, batch, flow, type FlowItem } from "../../features/flows/index.ts";
import type { QueueDefinition } from "../../open/definition.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { opening } from "../../open/opening.ts";
import type { Queue } from "../../open/queue.ts";
import { forbidden } from "../auth/authenticator.ts";
import type { FlowRoutes } from "../flows/part.ts";
import { readBody, requestOptions } from "../request/read.ts";
import * as schemas from "../request-schemas/flows.ts";
import type * as replies from "../response-schemas/flows.ts";
import { reply } from "../responses/reply.ts";
import type { RequestContext, Services } from "../services.ts";

/** The routes of flows. They are loaded at the first request to one of them. */
export const flowRoutes: FlowRoutes = {
  mount(app, services) {
    const { allow } = services;

    app.post("/v1/flows", allow("enqueue"), async (c) => {
      const options = requestOptions(c);
      const body = await readBody(c, services, schemas.newFlowOrBatch);
      const queueOf = queuesOf(c, services);
      const added = schemas.isBatch(body)
        ? await addBatch(body, queueOf, options)
        : await addItems(body, queueOf, options);
      return addedReply(added);
    });
  },
};

function addItems(
  { tasks, ...own }: schemas.NewFlow,
  queueOf: QueueOf,
  options: RequestOptions,
): Promise<AddedFlow> {
  return flow(withQueues(tasks, queueOf), { ...own, ...options });
}

function addBatch(
  { tasks, completed, failed, ended, ...own }: schemas.NewBatch,
  queueOf: QueueOf,
  options: RequestOptions,
): Promise<AddedFlow> {
  const withQueue = <Task extends NamedQueue>(task: Task, path: string) => ({
    ...task,
    queue: queueOf(task, `${path}.`),
  });
  return batch(
    tasks.map((task, i) => withQueue(task, `tasks[${i}]`)),
    {
      ...own,
      ...options,
      completed: completed && withQueue(completed, "completed"),
      failed: failed && withQueue(failed, "failed"),
      ended: ended && withQueue(ended, "ended"),
    },
  );
}

function addedReply(added: AddedFlow): Response {
  // Relative to the request, so that it is right wherever the app is mounted.
  const location = `flows/${encodeURIComponent(added.id)}`;
  return reply<typeof replies.added>(added, added.created ? 201 : 200, { location });
}

/** A task whose queue is named. */
interface NamedQueue {
  readonly queue: string;
  readonly group?: string;
  readonly priority?: number;
}

type QueueOf = (task: NamedQueue, path: string) => Queue;

/** Opens the queues of new tasks, each once, if the caller may enqueue there. */
function queuesOf(c: RequestContext, services: Services): QueueOf {
  const open = opening(services.optionsOf(c));
  const known = new Map<string, { readonly queue: Queue; readonly definition: QueueDefinition }>();
  return (task, path) => {
    const { queue: name } = task;
    let its = known.get(name);
    if (!its) {
      if (!c.get("grants").allows("enqueue", name)) throw forbidden(["enqueue"], name);
      const { definition, queue } = open(name);
      its = { definition, queue: queue() };
      known.set(name, its);
    }
    checkOrder(its.definition, task, path);
    return its.queue;
  };
}

/** The items of a request, with queues in place of their names. */
function withQueues(items: readonly schemas.FlowItem[], queueOf: QueueOf, path = "tasks"): FlowItem<Queue>[] {
  return items.map((item, i): FlowItem<Queue> => {
    const at = `${path}[${i}].`;
    if ("flow" in item) return { ...item, flow: withQueues(item.flow, queueOf, `${at}flow`) };
    return { ...item, queue: queueOf(item, at) };
  });
}
