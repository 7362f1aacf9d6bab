import type { DrainHooks, QueueHooks } from "../../kernel/hooks.ts";
import type { Batch, LeasedTask } from "../../kernel/lease/leased-task.ts";
import { flowQueue, type QueueOfFlow } from "../../features/flows/index.ts";
import type { Queue } from "../../kernel/queue.ts";
import { type FlowCalls, flowCalls } from "./flow-calls.ts";

/** The tasks of one dequeue, with the calls of flows. */
export type FlowBatch<T> = (LeasedTask<T> & FlowCalls)[] & Pick<Batch<T>, "nextDueAt" | "paused" | "invalid">;

/** What a queue has instead of its own members, so that its tasks have the calls of flows. */
export interface FlowLeases<Out> {
  dequeue(...args: Parameters<Queue["dequeue"]>): Promise<FlowBatch<Out>>;
  settleAndDequeue(
    ...args: Parameters<Queue["settleAndDequeue"]>
  ): Promise<{ settled: Awaited<ReturnType<Queue["settle"]>>; tasks: FlowBatch<Out> }>;
  readonly hooks: QueueHooks;
  /** Has the type of what handlers get; never a value. */
  readonly ofTasks?: FlowCalls | undefined;
}

/** A queue whose tasks have the calls of flows. */
export type FlowSource<In, Out> = Omit<Queue<In, Out>, keyof FlowLeases<Out>> & FlowLeases<Out>;

type CallsOf = (task: { readonly id: string; readonly receipt: string }) => FlowCalls;

/**
 * Gives the tasks of a queue the calls of flows, also those that handlers get.
 * @param queue whose transport is linked
 * @param queueOf the other queues, by their names
 */
export function flowSource<In, Out>(
  queue: Queue<In, Out>,
  queueOf: (name: string) => QueueOfFlow,
): FlowSource<In, Out> {
  const own = flowQueue(queue, "queue");
  const callsOf: CallsOf = (task) =>
    flowCalls(task, { own, queueOf: (name) => flowQueue(queueOf(name), name) });
  return replaced(queue, flowLeases(queue, callsOf));
}

function flowLeases<In, Out>(queue: Queue<In, Out>, callsOf: CallsOf): FlowLeases<Out> {
  const decorated = (tasks: Batch<Out>): FlowBatch<Out> => {
    for (const task of tasks) Object.assign(task, callsOf(task));
    return tasks as FlowBatch<Out>;
  };
  return {
    dequeue: async (...args) => decorated(await queue.dequeue(...args)),
    async settleAndDequeue(...args) {
      const { settled, tasks } = await queue.settleAndDequeue(...args);
      return { settled, tasks: decorated(tasks) };
    },
    hooks: {
      onSettle: (...args) => queue.hooks?.onSettle(...args),
      drain: (wholeBatches) => drainHooks(queue.hooks?.drain(wholeBatches), callsOf),
    },
  };
}

/** Those of a drain whose handlers get tasks with the calls of flows. */
function drainHooks(inner: DrainHooks | undefined, callsOf: CallsOf): DrainHooks {
  return {
    onSettle: (...args) => inner?.onSettle(...args),
    request: (run) => inner?.request(run) ?? run(),
    handlerCall(tasks) {
      for (const task of tasks) Object.assign(task, callsOf(task));
      return inner?.handlerCall(tasks) ?? { run: (handler) => handler(), end() {} };
    },
  };
}

/** A queue with some members of its own. */
function replaced<Q extends object, Own extends object>(queue: Q, own: Own): Omit<Q, keyof Own> & Own {
  return new Proxy(queue, {
    has: (target, name) => name in own || name in target,
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof Own];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  }) as unknown as Omit<Q, keyof Own> & Own;
}
