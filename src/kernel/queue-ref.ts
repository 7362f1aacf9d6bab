import type { Transport } from "./transport.ts";

/** A queue: its name, and where it is. */
export interface QueueRef {
  readonly name: string;
  /** First part of every key. @default "sluice" */
  readonly prefix?: string | undefined;
  readonly transport: Transport;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/** The test clock as the scripts take it; empty for Redis's own time. */
export function testNowOf({ now }: Pick<QueueRef, "now">): string {
  return now ? String(now()) : "";
}
