import type { Transport } from "./transport.ts";

/** How far Redis's clock is ahead of this machine's, ms, when it was read last. */
const leads = new WeakMap<Transport, number>();

/**
 * Notes Redis's time, just after a reply with it.
 * @param now epoch ms
 */
export function noteRedisTime(transport: Transport, now: number): void {
  leads.set(transport, now - Date.now());
}

/** Redis's time, epoch ms. Until a sweep of this instance has read it, it is the time of this machine. */
export function redisTime(transport: Transport): number {
  return Date.now() + (leads.get(transport) ?? 0);
}

/** How much too early clocks and timers may be, ms. A look for a task before it is due finds nothing. */
const MARGIN = 10;

/**
 * How long to wait until Redis's clock has passed an instant, ms; negative if it has.
 * @param at epoch ms, by Redis's clock
 */
export function timeUntil(transport: Transport, at: number): number {
  return at - redisTime(transport) + MARGIN;
}
