import { readSettled } from "../../kernel/lease/settlements.ts";
import type { SettleReply } from "../../kernel/lease/lease-calls.ts";
import { joinReplies, settleParts, settleSlices } from "../../kernel/lease/settle-slices.ts";
import { groupedBy } from "../../kernel/slices.ts";
import type { SettleBatch, SettlementArguments, Store } from "../../kernel/store.ts";
import { partitionedAdds } from "./partitioned-adds.ts";
import type { Divided } from "./partitions.ts";
import { type SettlePart, takesOf } from "./take.ts";

/**
 * The partitions of a queue, and its store.
 * @param plain the store of the same queue without them
 * @param wanted how many partitions a queue without a map gets. @default it gets no map
 */
export function partitionedStore(plain: Store, wanted: number | undefined): Divided<Store> {
  const { partitions, store } = partitionedAdds(plain, wanted);
  const takes = takesOf(partitions);

  /** The calls that settle, one for each partition, and what puts their replies into the order of the batch. */
  const split = async ({ settlements, items: given, token }: SettleBatch) => {
    const items = await given;
    const places = groupedBy([...items.keys()], (i) => (items[i] as SettlementArguments).place);
    const parts = Array.from(places).flatMap(([partition, own]): SettlePart[] =>
      settleSlices(partitions.shard(partition), items, own, token).map((slice) => ({ partition, ...slice })),
    );
    const settled = (replies: readonly SettleReply[]) =>
      readSettled(settlements, joinReplies(parts, replies));
    return { items, parts, settled };
  };

  const divided: Store = {
    ...store,
    async settle(batch) {
      const { items, parts } = await split(batch);
      takes.turns.noteSettled(parts);
      const { signal } = batch;
      const shards = async () => {
        const all = await store.shards({ signal });
        return all.filter(({ place }) => !partitions.isDown(place));
      };
      const replies = await settleParts(plain.queue, items, parts, shards, { signal });
      return { settled: readSettled(batch.settlements, replies), after: [] };
    },
    async take(request) {
      return (await takes.settleAndTake([], request)).taken();
    },
    async settleAndTake(batch, request) {
      const { items, parts, settled } = await split(batch);
      if (items.some(({ pause }) => pause))
        return { ...(await divided.settle(batch)), taken: () => divided.take(request) };
      const replies = await takes.settleAndTake(parts, request);
      return { settled: settled(replies.settled), after: [], taken: replies.taken };
    },
    async peek({ signal }) {
      return { hasPending: await takes.mayHaveTasks(signal) };
    },
  };
  return { partitions, store: divided };
}
