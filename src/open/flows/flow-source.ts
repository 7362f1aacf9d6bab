import type { DrainHooks, QueueHooks } from "../../kernel/hooks.ts";
import type { Batch, LeasedTask } from "../../kernel/lease/leased-task.ts";
import type { Queue } from "../../kernel/queue.ts";
import type { FlowCalls } from "./flow-tasks.ts";

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

/** @param callsOf the calls of a task */
export function flowLeases<In, Out>(
  queue: Queue<In, Out>,
  callsOf: (task: { readonly id: string; readonly receipt: string }) => FlowCalls,
): FlowLeases<Out> {
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
function drainHooks(
  inner: DrainHooks | undefined,
  callsOf: (task: { readonly id: string; readonly receipt: string }) => FlowCalls,
): DrainHooks {
  return {
    onSettle: (...args) => inner?.onSettle(...args),
    request: (run) => inner?.request(run) ?? run(),
    handlerCall(tasks) {
      for (const task of tasks) Object.assign(task, callsOf(task));
      return inner?.handlerCall(tasks) ?? { run: (handler) => handler(), end() {} };
    },
  };
}
