import { timeUntil } from "../../kernel/clock.ts";
import type { Waker } from "../../features/waking/index.ts";
import { wakeFailed } from "../../log/lines.ts";
import type { AlarmKind } from "../alarms.ts";
import type { Consumers } from "./consumers.ts";
import { type Invocation, LEAST_TIME } from "../invocation.ts";
import { remoteWaker } from "../remote-waker.ts";
import type { Setup } from "../setup.ts";

/**
 * Least time left for an invocation to start a consumer, ms. With less, the wake goes elsewhere, or cron finds the
 * tasks. After a sweep, even the shortest budget of an invocation, 1 s, has more than this left.
 */
const WORTH_STARTING = 250;

/**
 * The waker of a deployment. It starts the queue's consumer in this invocation if that is allowed. Otherwise, and if
 * the consumer has no free handler, it sends a wake to servers with any consumers, and to the wake URL.
 * The deployment there must have the same consumers as this one. If this deployment has no consumers, it sends wakes
 * for every queue.
 * @returns undefined if no wake can be sent or arranged
 */
export function deploymentWaker<Env extends object>(
  setup: Setup<Env>,
  consumers: Consumers<Env>,
  { timeLeft, drains }: Pick<Invocation, "timeLeft" | "drains">,
): Waker | undefined {
  const { remote, alarms, platform } = setup;
  const transport = drains?.counted(setup.transport) ?? setup.transport;
  const isClosing = () => platform.drains?.closing?.aborted === true;
  const here = (queue: string) =>
    timeLeft !== undefined && timeLeft() >= WORTH_STARTING && !isClosing() && consumers.has(queue);
  const elsewhere = (queue: string) => remoteWaker(setup, drains, consumers.none || consumers.has(queue));
  if (!remote.byUrl && !remote.byName && !alarms && (consumers.none || !timeLeft)) return undefined;
  const set = (kind: AlarmKind) => (queue: string, at: number) =>
    alarms?.set(kind, queue, timeUntil(transport, at));
  return {
    handOver: (queue, count) =>
      timeLeft && timeLeft() >= LEAST_TIME && here(queue)
        ? consumers.handOver(queue, count, timeLeft, drains)
        : undefined,
    onError: (error, queue) => setup.log(wakeFailed(queue, error)),
    queues: (queue) => here(queue) || elsewhere(queue) !== undefined,
    wake(queue) {
      if (!timeLeft || !here(queue)) return elsewhere(queue)?.wake(queue);
      const isBusy = consumers.isBusy(queue);
      const working = consumers.work(queue, timeLeft(), drains);
      return isBusy ? Promise.all([working, elsewhere(queue)?.wake(queue)]) : working;
    },
    ...(alarms
      ? { wakeAt: set("wake"), sweepAt: set("sweep") }
      : { wakeAt: remoteWaker(setup, drains)?.wakeAt }),
  };
}
