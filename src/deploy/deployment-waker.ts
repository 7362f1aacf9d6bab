import { timeUntil } from "../kernel/clock.ts";
import type { Waker } from "../features/waking/index.ts";
import { wakeFailed } from "../log/lines.ts";
import type { Consumers } from "./consumers.ts";
import type { Invocation } from "./invocation.ts";
import type { Setup } from "./setup.ts";

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
export function deploymentWaker<Env extends object>(
  { remoteWaker, alarms, platform, log, ...setup }: Setup<Env>,
  consumers: Consumers<Env>,
  { timeLeft, drains }: Pick<Invocation, "timeLeft" | "drains">,
): Waker | undefined {
  const transport = drains?.counted(setup.transport) ?? setup.transport;
  const isClosing = () => platform.ending?.closing?.aborted === true;
  const here = (queue: string) =>
    timeLeft !== undefined && timeLeft() >= WORTH_STARTING && !isClosing() && consumers.has(queue);
  const remote = remoteWaker && (drains?.countedWaker(remoteWaker) ?? remoteWaker);
  const elsewhere = (queue: string) => remoteWaker !== undefined && (consumers.none || consumers.has(queue));
  if (!remoteWaker && !alarms && (consumers.none || !timeLeft)) return undefined;
  return {
    queues: (queue) => here(queue) || elsewhere(queue),
    wake: (queue) =>
      timeLeft && here(queue) ? consumers.work(queue, timeLeft(), drains) : remote?.wake(queue),
    onError: (error, queue) => log(wakeFailed(queue, error)),
    ...(alarms && {
      wakeAt: (queue, at) => alarms.set("wake", queue, timeUntil(transport, at)),
      sweepAt: (queue, at) => alarms.set("sweep", queue, timeUntil(transport, at)),
    }),
  };
}
