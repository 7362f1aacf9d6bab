import { queueKeys } from "../core/keys.ts";
import { callOf } from "../redis/binding.ts";
import { checkScript } from "../redis/repair-scripts.ts";
import { checkedTransport, sendForEach, type Transport } from "../redis/transport.ts";

/** What one script call finds in a queue. */
export interface QueueCheck {
  /** True if it has no fault except perhaps in its schedules; null if the queue is too large for one call. */
  readonly valid: boolean | null;
  readonly entries: number;
  readonly hasSchedules: boolean;
}

export interface CheckOptions {
  readonly prefix?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly now?: (() => number) | undefined;
}

/**
 * Checks queues or partitions, in one request, and changes nothing. One whose check fails is not in the result.
 * @param names such as `emails`, or `emails/3` for a partition
 */
export async function checkQueues(
  transport: Transport,
  names: readonly string[],
  { prefix, now, signal }: CheckOptions,
): Promise<Map<string, QueueCheck>> {
  const checks = new Map<string, QueueCheck>();
  if (names.length === 0) return checks;
  const testNow = now ? String(now()) : "";
  const calls = names.map((name) => callOf(checkScript, queueKeys(name, prefix), { testNow }));
  const outcomes = await sendForEach(checkedTransport(transport), calls, { signal });
  for (const [i, name] of names.entries()) {
    const outcome = outcomes[i];
    if (!outcome || !("reply" in outcome)) continue;
    try {
      checks.set(name, checkScript.decode(outcome.reply));
    } catch {
      // The pass through the queue reports the error.
    }
  }
  return checks;
}
