/** Pauses of the queue and of groups: until they are resumed, or for a time. */
import type { QueueState } from "./state.ts";

export interface ModelPause {
  paused: boolean;
  /** When it ends, as it is stored; null if it lasts until it is resumed. */
  pausedUntil: number | null;
}

export const RUNNING: Readonly<ModelPause> = { paused: false, pausedUntil: null };

export const isPaused = ({ paused, pausedUntil }: ModelPause, now: number) =>
  paused && (pausedUntil === null || now < pausedUntil);

/** The pause as calls return it. */
export const pauseAt = (pause: ModelPause, now: number): Readonly<ModelPause> =>
  isPaused(pause, now) ? { paused: true, pausedUntil: pause.pausedUntil } : RUNNING;

/** How an operator changes a pause. @param length for how long, ms; 0 until it is resumed */
export function pausedBy(before: ModelPause, now: number, length: number): ModelPause {
  const lastsOn = isPaused(before, now) && before.pausedUntil === null;
  return { paused: true, pausedUntil: lastsOn || length === 0 ? null : now + length };
}

/** A consumer pauses the queue, unless it is paused for as long. */
export function pauseAtLeast(queue: QueueState, now: number, length: number): void {
  const { paused, pausedUntil } = pauseAt(queue.settings, now);
  if (paused && (pausedUntil === null || pausedUntil >= now + length)) return;
  queue.settings = { ...queue.settings, paused: true, pausedUntil: now + length };
  queue.wake = undefined;
}

/**
 * Forgets the pauses that are over and not stored any more: if the clock then jumps back, nothing is paused.
 * @param latest the latest time that any call had
 * @param stored the fields of the queue
 * @throws if one is not stored any more that was never over
 */
export function forgetPauses(queue: QueueState, latest: number, stored: ReadonlyMap<string, string>): void {
  const all: [string, ModelPause][] = [["~set", queue.settings]];
  for (const [name, group] of queue.groups) all.push([`~s:${name}`, group]);
  for (const [field, pause] of all) {
    if (pause.pausedUntil === null || stored.get(field)?.includes(";p=")) continue;
    if (pause.pausedUntil > latest) throw new Error(`the pause in ${field} has ended too early`);
    Object.assign(pause, RUNNING);
  }
}
