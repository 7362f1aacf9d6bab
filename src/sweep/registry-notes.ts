import { queueKeys } from "../kernel/names/keys.ts";
import { slicesOf } from "../kernel/slices.ts";
import { type Command, sendForEach, type Transport } from "../kernel/transport.ts";
import type { RegisteredShard } from "./registry.ts";

/**
 * A queue whose note in the registry is older than this, ms, is first checked with one command. If it holds
 * anything, the note is renewed. So an idle queue costs one command a sweep, and a busy one only its script.
 */
const PROBE_AFTER = 600_000;

/** A queue whose note is this old, ms, has been empty for an hour and leaves the registry. */
export const UNREGISTER_AFTER = PROBE_AFTER + 3_600_000;

/** Queues checked in one request. */
export const CHECKED_PER_REQUEST = 50;

/** Whether a sweep leaves out a partition, because it has nothing to do and has not long been empty. */
export function isLeftOut({ isIdle, seenAt }: RegisteredShard, now: number): boolean {
  return isIdle && now - seenAt < UNREGISTER_AFTER;
}

export interface NotesOptions {
  readonly prefix?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly now?: (() => number) | undefined;
}

/** The queues of a page of the registry that may have left it. */
export interface CheckedQueues {
  /** Queues with an old note that hold something. */
  readonly used: readonly RegisteredShard[];
  /** Queues with an old note that are empty. */
  readonly empty: ReadonlySet<RegisteredShard>;
}

/**
 * Checks which of the queues with an old note are empty.
 * @param now the time of Redis, epoch ms
 */
export async function checkOldQueues(
  transport: Transport,
  queues: readonly RegisteredShard[],
  now: number,
  options: NotesOptions,
): Promise<CheckedQueues> {
  const old = queues.filter(({ seenAt }) => now - seenAt >= PROBE_AFTER);
  const empty = new Set<RegisteredShard>();
  for (const slice of slicesOf(old, CHECKED_PER_REQUEST)) {
    const commands = slice.map(({ name, seenAt }): Command => {
      const { pending, fair, limited, working, delayed, expiry, schedules } = queueKeys(name, options.prefix);
      const keys = [pending, fair, limited, working, delayed, expiry];
      // A queue with schedules only has nothing to sweep, but is in use.
      return ["EXISTS", ...keys, ...(now - seenAt >= UNREGISTER_AFTER ? [schedules] : [])];
    });
    for (const [i, outcome] of (await sendForEach(transport, commands, options)).entries()) {
      if ("reply" in outcome && outcome.reply === 0) empty.add(slice[i] as RegisteredShard);
    }
  }
  return { used: old.filter((queue) => !empty.has(queue)), empty };
}
