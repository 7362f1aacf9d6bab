import {
  addBefore,
  type AddedFlow,
  batch,
  flow,
  type FlowItem,
  flowQueue,
  type FlowReport,
  readEachBefore,
} from "../../features/flows/index.ts";
import { readReceipt } from "../../kernel/names/receipt.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { opening } from "../../open/opening.ts";
import type { Queue } from "../../open/queue.ts";
import { Flows } from "../../open/flows.ts";
import type { AppRoutes } from "../app-part.ts";
import { forbidden, payloadsHidden } from "../auth/authenticator.ts";
import type { Scope } from "../auth/tokens.ts";
import { invalid, Problem } from "../problems/problem.ts";
import { noFields, readBody, readPath, readQuery, requestOptions } from "../request/read.ts";
import { idInPath } from "../request-schemas/tasks.ts";
import * as schemas from "../request-schemas/flows.ts";
import type * as replies from "../response-schemas/flows.ts";
import type { ReplyOf } from "../response-schemas/values.ts";
import { fieldOf } from "../responses/task-reply.ts";
import { reply } from "../responses/reply.ts";
import type { RequestContext, Services } from "../services.ts";

/** The routes of flows. They are loaded at the first request to one of them. */
export const flowRoutes: AppRoutes = {
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

    const flows = (c: RequestContext) => {
      const { transport, prefix = services.prefix, wake } = services.optionsOf(c);
      return new Flows({ transport, prefix, wake });
    };
    /** The id in the path, if the caller has one of the scopes for each queue of the flow. */
    const allowedId = async (c: RequestContext, ...scopes: Scope[]): Promise<string> => {
      const { flow: id } = readPath(c, schemas.flowInPath);
      requireScope(c, scopes, [homeOf(id)]);
      if (!scopes.some((scope) => c.get("grants").allowsAll(scope))) {
        const report = await flows(c).get(id);
        if (report) requireScope(c, scopes, queuesIn(report));
      }
      return id;
    };

    app.get("/v1/flows/:flow", allow("enqueue", "view"), async (c) => {
      readQuery(c);
      const { flow: id } = readPath(c, schemas.flowInPath);
      requireScope(c, ["enqueue", "view"], [homeOf(id)]);
      const report = await flows(c).get(id, { signal: c.req.raw.signal });
      if (!report) throw flowNotFound();
      requireScope(c, ["enqueue", "view"], queuesIn(report));
      return reply<typeof replies.flow>(report);
    });

    app.post("/v1/flows/:flow/cancel", allow("enqueue"), async (c) => {
      const options = requestOptions(c);
      await readBody(c, services, noFields, "optional");
      const id = await allowedId(c, "enqueue");
      const done = await flows(c).cancel(id, options);
      if (!done.ok) throw flowNotFound();
      return reply<typeof replies.cancelled>({ id, cancelled: done.cancelled, flagged: done.flagged });
    });

    app.post("/v1/flows/:flow/redrive", allow("admin"), async (c) => {
      const options = requestOptions(c);
      await readBody(c, services, noFields, "optional");
      const id = await allowedId(c, "admin");
      const done = await flows(c).redrive(id, options);
      if (!done.ok) throw flowNotFound();
      return reply<typeof replies.redriven>({ id, redriven: done.redriven });
    });

    app.get("/v1/queues/:queue/tasks/:id/before", allow("consume"), async (c) => {
      readQuery(c);
      const { id } = readPath(c, idInPath);
      const { name } = c.get("open");
      if (c.get("grants").hidesPayloads(name, "consume"))
        throw payloadsHidden("What a task waited for has results, which the token hides.");
      const open = opening(services.optionsOf(c));
      const queueOf = (queue: string) => flowQueue(open(queue).queue(), "queue");
      const found = await readEachBefore(id, queueOf(name), queueOf, { signal: c.req.raw.signal });
      const shown = found.map(({ ref, result, error, ...one }) => {
        return [
          ref,
          { ...one, ...fieldOf(result, "result", "encoding"), ...fieldOf(error, "error", "errorEncoding") },
        ];
      });
      return reply<typeof replies.before>({ tasks: Object.fromEntries(shown) as BeforeReply });
    });

    app.post("/v1/queues/:queue/tasks/:id/before", allow("consume"), async (c) => {
      const { signal } = requestOptions(c);
      const { id } = readPath(c, idInPath);
      const { receipt, ref, tasks } = await readBody(c, services, schemas.newBefore);
      if (readReceipt(receipt, "receipt").id !== id)
        throw invalid("receipt", "must be that of the task in the path");
      const { store } = flowQueue(c.get("open").queue(), "queue");
      const items = withQueues(tasks, queuesOf(c, services));
      const added = await addBefore({ receipt, store }, ref, items, flowQueue, { signal });
      if (!added.ok) throw new Problem(added.code);
      const { created } = added;
      return reply<typeof replies.addedBefore>({ created, tasks: added.tasks }, created ? 201 : 200);
    });
  },
};

type BeforeReply = ReplyOf<typeof replies.before>["tasks"];

const homeOf = (id: string) => id.slice(id.indexOf("@") + 1);

const queuesIn = ({ nodes }: FlowReport) => [...new Set(nodes.flatMap(({ queue }) => queue ?? []))];

/** @throws {Problem} `forbidden`, if the caller has none of the scopes for a queue */
function requireScope(c: RequestContext, scopes: readonly Scope[], queues: readonly string[]): void {
  const grants = c.get("grants");
  for (const queue of queues) {
    if (!scopes.some((scope) => grants.allows(scope, queue))) throw forbidden(scopes, queue);
  }
}

const flowNotFound = () =>
  new Problem("not_found", {
    detail: "There is no flow with this id: it was never added, or its record has expired.",
  });

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
  const withQueue = <Task extends NamedQueue>(task: Task) => ({ ...task, queue: queueOf(task) });
  return batch(tasks.map(withQueue), {
    ...own,
    ...options,
    completed: completed && withQueue(completed),
    failed: failed && withQueue(failed),
    ended: ended && withQueue(ended),
  });
}

function addedReply(added: AddedFlow): Response {
  // Relative to the request, so that it is right wherever the app is mounted.
  const location = `flows/${encodeURIComponent(added.id)}`;
  return reply<typeof replies.added>(added, added.created ? 201 : 200, { location });
}

/** A task whose queue is named. */
interface NamedQueue {
  readonly queue: string;
}

type QueueOf = (task: NamedQueue) => Queue;

/** Opens the queues of new tasks, each once, if the caller may enqueue there. */
function queuesOf(c: RequestContext, services: Services): QueueOf {
  const tracing = services.tracing?.continuing(c.req.raw.headers);
  const open = opening({ ...services.optionsOf(c), tracing });
  const known = new Map<string, Queue>();
  return ({ queue: name }) => {
    let queue = known.get(name);
    if (!queue) {
      if (!c.get("grants").allows("enqueue", name)) throw forbidden(["enqueue"], name);
      queue = open(name).queue();
      known.set(name, queue);
    }
    return queue;
  };
}

/** The items of a request, with queues in place of their names. */
function withQueues(items: readonly schemas.FlowItem[], queueOf: QueueOf): FlowItem<Queue>[] {
  return items.map((item): FlowItem<Queue> =>
    "flow" in item ? { ...item, flow: withQueues(item.flow, queueOf) } : { ...item, queue: queueOf(item) },
  );
}
