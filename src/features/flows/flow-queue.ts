import { invalidArgument } from "../../errors.ts";
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
  /** Of a declared queue. */
  readonly producer?: Made;
}

/**
 * What a flow needs of a queue.
 * @param path of the queue, for errors
 * @throws {SluiceError} `invalid_argument`, also for a declared queue that cannot add tasks itself
 */
export function flowQueue(queue: QueueOfFlow, path: string): FlowQueue {
  const given = queue as unknown as Made | null | undefined;
  const { store, values, defaults, schema, addHooks } = given?.producer ?? given ?? {};
  if (!store || !values || !defaults)
    throw invalidArgument(path, "must be a Queue, a Producer, or a queue that defineQueue made");
  return { store, values, defaults, schema, addHooks };
}
