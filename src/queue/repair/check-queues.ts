import { eachAlone, exchange } from "../../kernel/call.ts";
import { Shard } from "../../kernel/shard.ts";
import { checkScript } from "../redis/repair-scripts.ts";
import { checkedTransport, type Transport } from "../redis/transport.ts";

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
  const link = eachAlone(checkedTransport(transport));
  const calls = names.map((name) => new Shard({ name, prefix, transport, now }).call(checkScript, {}));
  const replies = await exchange(link, calls, { signal });
  for (const [i, name] of names.entries()) {
    try {
      const check = replies[i]?.();
      if (check) checks.set(name, check);
    } catch {
      // The pass through the queue reports the error.
    }
  }
  return checks;
}
