/** Settling more than one script call does: many tasks, or tasks that pause their queue. */
import { type Call, runAll } from "../call.ts";
import { pauseScript } from "../scripts/pause-script.ts";
import type { MaybePromise } from "../maybe-promise.ts";
import type { QueueRef } from "../queue-ref.ts";
import type { Shard } from "../shard.ts";
import { slicesOf } from "../slices.ts";
import type { SettlementArguments } from "../store.ts";
import type { SendOptions } from "../transport.ts";
import { MOST_SETTLED, settleCall, type SettleReply } from "./lease-calls.ts";

/** A call that settles some items of a batch. */
export interface SettleSlice {
  readonly call: ReturnType<typeof settleCall>;
  /** Which items: their indexes. */
  readonly of: readonly number[];
}

/**
 * The calls that settle tasks of a shard, in their order. What is handed back goes to the front, so the last slice is
 * the first; a batch that hands back only some is not cut.
 * @param of the indexes of the items that are of this shard
 */
export function settleSlices(
  shard: Shard,
  items: readonly SettlementArguments[],
  of: readonly number[],
  token: string,
): SettleSlice[] {
  const isHandedBack = (i: number) => items[i]?.terms === "unstarted";
  const handsBack = of.some(isHandedBack);
  const slices = handsBack && !of.every(isHandedBack) ? [of] : slicesOf(of, MOST_SETTLED);
  if (handsBack) slices.reverse();
  return slices.map((slice) => {
    const own = slice.map((i) => items[i] as SettlementArguments);
    return { call: settleCall(shard, own, token), of: slice };
  });
}

/** The replies to slices in the order of the batch. */
export function joinReplies(slices: readonly SettleSlice[], replies: readonly SettleReply[]): SettleReply {
  const all: SettleReply = [];
  for (const [i, { of }] of slices.entries())
    for (const [j, one] of (replies[i] ?? []).entries()) all[of[j] as number] = one;
  return all;
}

/** Settles all items of a shard, in one request. @returns the replies in their order */
export function settleAll(
  shard: Shard,
  items: readonly SettlementArguments[],
  token: string,
  options: SendOptions,
): Promise<SettleReply> {
  const slices = settleSlices(shard, items, [...items.keys()], token);
  return settleParts(shard.queue, items, slices, () => [shard], options);
}

/**
 * Settles items, in one request. If some of them pause the queue, that goes first: then no pause ends after the task that
 * has asked for it is due.
 * @param shards those of the queue, to be paused
 * @returns the replies in the order of the items
 */
export async function settleParts(
  { transport }: QueueRef,
  items: readonly SettlementArguments[],
  slices: readonly SettleSlice[],
  shards: () => MaybePromise<readonly Shard[]>,
  options: SendOptions,
): Promise<SettleReply> {
  const length = Math.max(...items.map(({ pause = 0 }) => pause));
  const paused = length > 0 ? await shards() : [];
  const calls: Call<unknown>[] = paused.map((shard) => shard.call(pauseScript, { length: String(length) }));
  const replies = await runAll(transport, [...calls, ...slices.map(({ call }) => call)], options);
  return joinReplies(slices, replies.slice(paused.length) as SettleReply[]);
}
