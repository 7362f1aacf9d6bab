import { SluiceError } from "../../errors.ts";
import type { QueueHooks } from "../../kernel/hooks.ts";
import type { ProducerCalls, QueueCalls, Tracing } from "./types.ts";
import type { Guard } from "./guard.ts";
import type { Spans } from "./spans.ts";

/** Traces queues by these spans. */
export function tracingBy(spans: Spans, guard: Guard): Tracing {
  const tracing: Tracing = {
    traceCalls(queue, overHttp) {
      traceEnqueues(queue, overHttp, spans);
      Object.assign(queue, { addHooks: tracing });
      if ("dequeue" in queue) traceLeases(queue, spans);
    },
    continuing: (headers) => tracingBy(spans.continuing(headers), guard),
    logTo: (log) => void (guard.log = log),
    detached: (run) => spans.detached(run),
    adding: (call, add) => spans.enqueue({ ...call, many: true }, add),
  };
  return tracing;
}

function traceEnqueues(queue: ProducerCalls, overHttp: boolean, spans: Spans): void {
  const { name } = queue;
  const enqueue = queue.enqueue.bind(queue);
  const enqueueMany = queue.enqueueMany.bind(queue);
  Object.assign(queue, {
    enqueue: (payload, options = {}) =>
      spans.enqueue({ queue: name, tasks: [options], many: false, overHttp }, (addHeaders) =>
        enqueue(payload, options, addHeaders),
      ),
    enqueueMany: (tasks, options) =>
      spans.enqueue({ queue: name, tasks, many: true, overHttp }, (addHeaders) =>
        enqueueMany(tasks, options, addHeaders).catch((error: unknown) => {
          // A trace must not make a call fail.
          if (overHttp || !isTooLarge(error)) throw error;
          return enqueueMany(tasks, options);
        }),
      ),
  } satisfies Omit<ProducerCalls, "name">);
}

function traceLeases(queue: QueueCalls, spans: Spans): void {
  const { name } = queue;
  const dequeue = queue.dequeue.bind(queue);
  const settle = queue.settle.bind(queue);
  const settleAndDequeue = queue.settleAndDequeue.bind(queue);
  Object.assign(queue, {
    hooks: { onSettle: spans.onSettle, drain: (wholeBatches) => spans.drain(name, wholeBatches) },
    async dequeue(options) {
      const run = async () => ({ tasks: await dequeue(options) });
      return (await spans.exchange(name, [], run)).tasks;
    },
    async settle(settlements, options) {
      const run = async () => ({ settled: await settle(settlements, options) });
      return (await spans.exchange(name, settlements, run)).settled;
    },
    settleAndDequeue(settlements, options) {
      const run = () => settleAndDequeue(settlements, options);
      // Without settlements it calls `dequeue`, which is traced.
      return settlements?.length === 0 ? run() : spans.exchange(name, settlements, run);
    },
  } satisfies Omit<QueueCalls, keyof ProducerCalls> & { readonly hooks: QueueHooks });
}

function isTooLarge(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "too_large" && error.path === "tasks";
}
