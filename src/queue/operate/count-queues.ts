import { SluiceError } from "../../errors.ts";
import type { QueueCounts } from "../core/counts.ts";
import { queueKeys } from "../core/keys.ts";
import { callOf } from "../redis/binding.ts";
import { countScript } from "../redis/operate-scripts.ts";
import { replyAt } from "../redis/replies.ts";
import { checkedTransport, type Transport } from "../redis/transport.ts";
import type { ListQueuesOptions } from "../sweep/registry.ts";

/** The counts of a queue, or the code of the error that prevented them. */
export type CountedQueue = QueueCounts | { readonly queue: string; readonly code: string };

/**
 * Counts the tasks of several queues in one request. Each queue costs 11 to 13 Redis commands, and 3 more
 * if its next task is cancelled. A fault of one queue does not fail the others.
 * @param names of the queues, in the order of the result
 * @throws {SluiceError} if Redis cannot be reached
 * @example const [emails, reports] = await countQueues(upstash(env), ["emails", "reports"]);
 */
export async function countQueues(
  transport: Transport,
  names: readonly string[],
  { prefix, signal, now }: Pick<ListQueuesOptions, "prefix" | "signal" | "now"> = {},
): Promise<CountedQueue[]> {
  if (names.length === 0) return [];
  const testNow = now ? String(now()) : "";
  const calls = names.map((name) => callOf(countScript, queueKeys(name, prefix), { testNow }));
  const outcomes = await checkedTransport(transport).send(calls, { signal });
  return names.map((queue, i) => {
    try {
      return { queue, ...countScript.decode(replyAt(outcomes, i)) };
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      return { queue, code: error.code };
    }
  });
}
