/** Whether a consumer works on the queue, or was woken. */
import { isPaused } from "./pauses.ts";
import type { QueueState } from "./state.ts";

/** How long a sweep waits for a consumer that was woken, ms. */
const UNHEARD = 1_000;

function asleep(queue: QueueState, now: number, patience: number | undefined): boolean {
  const { sent, until, window } = queue.wake ?? { sent: 0, until: 0, window: 0 };
  const over = now >= until || now < until - window;
  return over || (patience !== undefined && until === sent + window && now >= sent + patience);
}

function send(queue: QueueState, now: number, window: number): true {
  queue.wake = { sent: now, until: now + window, window };
  return true;
}

export function wakesOnEnqueue(
  queue: QueueState,
  now: number,
  window: number | undefined,
  resent: boolean,
): boolean {
  if (window === undefined || isPaused(queue.settings, now)) return false;
  return asleep(queue, now, resent ? 0 : undefined) && send(queue, now, window);
}

export function wakesOnSweep(queue: QueueState, now: number, window: number | undefined): boolean {
  if (window === undefined || queue.line.length + queue.grouped.length === 0 || isPaused(queue.settings, now))
    return false;
  return asleep(queue, now, UNHEARD) && send(queue, now, window);
}

/** Wakes one more consumer, unless one was woken within the window. */
export function wakeAnother(queue: QueueState, now: number, window: number): boolean {
  const { sent, window: given } = queue.wake ?? { sent: 0, window: 0 };
  if (now >= sent && now < sent + window) return false;
  return send(queue, now, Math.max(window, given));
}

/** Notes that a consumer took tasks, and will come again. */
export function heardOf(queue: QueueState, now: number): void {
  if (queue.wake) queue.wake = { ...queue.wake, until: now + queue.wake.window };
}

/**
 * Wakes a consumer for tasks that an operator's call has made ready. If an earlier copy of the call has, its wake
 * may be lost.
 */
export function wakesOnReady(
  queue: QueueState,
  now: number,
  window: number | undefined,
  copy: "first" | "later",
): boolean {
  if (window === undefined || isPaused(queue.settings, now)) return false;
  return asleep(queue, now, copy === "later" ? 0 : undefined) && send(queue, now, window);
}

/** As {@link wakesOnReady}, if tasks are ready. After a pause, no consumer is awake. */
export function wakesOnRelease(
  queue: QueueState,
  now: number,
  window: number | undefined,
  change: "resumed" | "loosened" | "made before",
): boolean {
  if (window === undefined || queue.line.length + queue.grouped.length === 0 || isPaused(queue.settings, now))
    return false;
  if (change === "resumed") return send(queue, now, window);
  return wakesOnReady(queue, now, window, change === "loosened" ? "first" : "later");
}
