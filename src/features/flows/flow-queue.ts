import { checkedAt, invalidArgument, SluiceError } from "../../errors.ts";
import type { FlowQueue } from "./flow-tasks.ts";

/** A queue that a flow may have tasks in: a `Queue`, a `Producer`, or a declared queue. */
export interface QueueOfFlow {
  readonly name: string;
  // A method, so that queues with any type of payload fit.
  enqueue(payload: never, ...options: never[]): unknown;
}

/** The payloads that a queue takes. */
export type PayloadOf<Q> = Q extends { enqueue(payload: infer In, ...options: never[]): unknown }
  ? In
  : never;

/** What a queue, or the producer of a declared one, is made of. */
interface Made extends Partial<FlowQueue> {
  /** The waker of a deployment says whether the queue has its consumer there. */
  readonly options?: {
    readonly wake?: { readonly handOver?: (queue: string, count: number) => unknown } | undefined;
  };
  /** Of a declared queue. */
  readonly producer?: Made;
}

/** The transport of a deployment with flows is linked. */
const hasNoFlows = (queue: string) =>
  new SluiceError(
    "unsupported",
    `this deployment has no flows, so its consumer could not work on ${queue}: ` +
      'import { flows } from "sluice-queue/flows", and sluice({ flows, consumers: [ … ] })',
  );

/**
 * What a flow needs of a queue.
 * @param path of the queue, for errors
 * @throws {SluiceError} `invalid_argument`, also for a declared queue that cannot add tasks itself; `unsupported` in a
 *   deployment without flows
 */
export function flowQueue(queue: QueueOfFlow, path: string): FlowQueue {
  const given = queue as unknown as Made | null | undefined;
  const made = checkedAt(`${path}.`, () => given?.producer) ?? given ?? {};
  const { store, values, defaults, schema, addHooks, checkTask, options } = made;
  if (!store || !values || !defaults)
    throw invalidArgument(path, "must be a Queue, a Producer, or a queue that defineQueue made");
  const { name, transport } = store.queue;
  if (!transport.passTurns && options?.wake?.handOver?.(name, 1)) throw hasNoFlows(name);
  return { store, values, defaults, schema, addHooks, checkTask };
}
