/** The store of a queue with partitions. */
import { exchangeAndRead } from "../../kernel/on-all.ts";
import { exchange, run } from "../../kernel/call.ts";
import { testNowOf } from "../../kernel/queue-ref.ts";
import type { SettlementArguments, Adds, SettleBatch, Store } from "../../kernel/store.ts";
import { settleCall, type SettleReply } from "../../kernel/take.ts";
import { slotOf } from "../core/partition-slots.ts";
import { groupedBy } from "../core/slices.ts";
import { readSettled } from "../tasks/settle.ts";
import { PartitionAdds } from "./add.ts";
import { partitionsOf, readMap } from "./map.ts";
import type { Partitions } from "./partitions.ts";
import { PartitionTakes, type SettlePart } from "./take.ts";

/**
 * The store of a queue with partitions.
 * @param plain that of the same queue without them
 */
export function partitionedStore(plain: Adds, partitions: Partitions): Store {
  const { queue } = plain;
  const { transport } = queue;
  const adds = new PartitionAdds(partitions);
  const takes = new PartitionTakes(partitions);
  const shardsOf = (places: readonly number[]) => places.map((place) => partitions.shard(place));

  /** The calls that settle, one for each partition, and their places in the batch. */
  const settleParts = async ({ items: given, token }: SettleBatch) => {
    const items = await given;
    const places = groupedBy([...items.keys()], (i) => (items[i] as SettlementArguments).partition);
    return Array.from(places, ([partition, own]): SettlePart & { readonly places: readonly number[] } => ({
      partition,
      places: own,
      call: settleCall(
        partitions.shard(partition),
        own.map((i) => items[i] as SettlementArguments),
        token,
      ),
    }));
  };
  const joined = (
    parts: readonly { readonly places: readonly number[] }[],
    replies: readonly SettleReply[],
  ) => {
    const all: SettleReply = [];
    for (const [i, { places }] of parts.entries()) {
      for (const [j, place] of places.entries()) {
        const one = replies[i]?.[j];
        if (one) all[place] = one;
      }
    }
    return all;
  };

  const store: Store = {
    ...plain,
    shard: (place) => partitions.shard(place),
    async shards({ signal, fresh }) {
      return shardsOf(
        fresh ? partitionsOf(await partitions.storedMap(signal)) : await partitions.all(signal),
      );
    },
    shardsCall: () =>
      // Without the first database, what is known of the partitions still counts.
      ({
        command: partitions.readCommand(),
        read: (outcome) => {
          if (outcome && "reply" in outcome) partitions.remember(readMap(outcome.reply as string | null));
        },
      }),
    ownerOf: async (group, { signal }) =>
      partitions.shard((await partitions.map(signal)).owners[slotOf(group)] as number),
    async shareLimits(shards, wake, { signal }) {
      const { rebalanceShares } = await import("./shares.ts");
      const places = shards.map(({ place }) => place);
      return rebalanceShares({ ...queue, signal }, places, { testNow: testNowOf(queue), wake });
    },
    having: async (id, { signal }) => shardsOf(await partitions.having(id, signal)),
    add: (batch) => adds.add(batch),
    async find(id, call, isUnknown, options) {
      const [first = 0, ...rest] = await partitions.having(id, options.signal);
      let reply = await run(transport, call(partitions.shard(first)), options);
      const asked = [first];
      for (let others = rest; isUnknown(reply);) {
        asked.push(...others);
        const found = await exchangeAndRead(store, shardsOf(others).map(call), options);
        // A partition that cannot be reached matters only if no other one knows the task.
        let failure: { readonly error: unknown } | undefined;
        for (const read of found) {
          try {
            if (isUnknown(reply)) reply = read() as typeof reply;
          } catch (error) {
            failure ??= { error };
          }
        }
        if (failure && isUnknown(reply)) throw failure.error;
        others = (await partitions.having(id, options.signal)).filter((one) => !asked.includes(one));
        if (others.length === 0) break;
      }
      return reply;
    },
    async settle(batch) {
      const parts = await settleParts(batch);
      const calls = parts.map(({ call }) => call);
      const replies = await exchange(transport, calls, { signal: batch.signal });
      return readSettled(
        batch.settlements,
        joined(
          parts,
          replies.map((reply) => reply()),
        ),
      );
    },
    take: (request) => takes.take(request),
    async settleAndTake(batch, request) {
      const parts = await settleParts(batch);
      const { settled, taken } = await takes.settleAndTake(parts, request);
      return { settled: readSettled(batch.settlements, joined(parts, settled)), taken };
    },
    async peek({ signal }) {
      return { hasPending: await takes.mayHaveTasks(signal) };
    },
  };
  return store;
}
