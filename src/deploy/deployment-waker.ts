import { timeUntil } from "../kernel/clock.ts";
import type { Transport } from "../kernel/transport.ts";
import type { Waker } from "../features/waking/index.ts";
import type { Alarms } from "./alarms.ts";
import type { Drains } from "./drains.ts";
import type { Invocation } from "./invocation.ts";

/** What a deployment's waker needs of the deployment. */
export interface WakerContext {
  readonly transport: Transport;
  readonly consumers: {
    readonly none: boolean;
    has(queue: string): boolean;
    work(queue: string, time: number, drains?: Drains): Promise<unknown>;
  };
  /** Wakes the consumers of another deployment, or this one in another invocation. */
  readonly remoteWaker: Waker | undefined;
  readonly alarms: Alarms | undefined;
  /** Aborts when the process begins to close. */
  readonly closing: AbortSignal | undefined;
}

/**
 * Least time left for an invocation to start a consumer, ms. With less, the wake goes elsewhere, or cron finds the
 * tasks. After a sweep, even the shortest budget of an invocation, 1 s, has more than this left.
 */
const WORTH_STARTING = 250;

/**
 * The waker of a deployment. It starts the queue's consumer in this invocation if that is allowed. Otherwise it
 * sends a wake to the wake URL, if there is one. The deployment there must have the same consumers as this one.
 * If this deployment has no consumers, it sends wakes for every queue.
 * @returns undefined if no wake can be sent or arranged
 */
export function deploymentWaker(
  { transport, consumers, remoteWaker, alarms, closing }: WakerContext,
  { timeLeft, drains }: Pick<Invocation, "timeLeft" | "drains">,
): Waker | undefined {
  const here = (queue: string) =>
    timeLeft !== undefined && timeLeft() >= WORTH_STARTING && !closing?.aborted && consumers.has(queue);
  const remote = remoteWaker && (drains?.countedWaker(remoteWaker) ?? remoteWaker);
  const elsewhere = (queue: string) => remoteWaker !== undefined && (consumers.none || consumers.has(queue));
  if (!remoteWaker && !alarms && (consumers.none || !timeLeft)) return undefined;
  return {
    queues: (queue) => here(queue) || elsewhere(queue),
    wake: (queue) =>
      timeLeft && here(queue) ? consumers.work(queue, timeLeft(), drains) : remote?.wake(queue),
    ...(alarms && {
      wakeAt: (queue, at) => alarms.set("wake", queue, timeUntil(transport, at)),
      sweepAt: (queue, at) => alarms.set("sweep", queue, timeUntil(transport, at)),
    }),
  };
}
