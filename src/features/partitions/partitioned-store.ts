import { exchange } from "../../kernel/call.ts";
import type { SettleBatch, SettlementArguments, Store } from "../../kernel/store.ts";
import { settleCall, type SettleReply } from "../../kernel/lease/take.ts";
import { groupedBy } from "../../kernel/slices.ts";
import { readSettled } from "../../kernel/lease/settle.ts";
import { partitionedAdds } from "./partitioned-adds.ts";
import type { Partitions } from "./partitions.ts";
import { PartitionTakes, type SettlePart } from "./take.ts";

/**
 * The store of a queue with partitions.
 * @param plain that of the same queue without them
 */
export function partitionedStore(plain: Store, partitions: Partitions): Store {
  const { transport } = plain.queue;
  const takes = new PartitionTakes(partitions);

  /** The calls that settle, one for each partition, and their places in the batch. */
  const settleParts = async ({ items: given, token }: SettleBatch) => {
    const items = await given;
    const places = groupedBy([...items.keys()], (i) => (items[i] as SettlementArguments).place);
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

  return {
    ...plain,
    ...partitionedAdds(plain, partitions),
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
}
