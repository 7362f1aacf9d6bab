import { run } from "../../kernel/call.ts";
import { exchangeAndRead } from "../../kernel/on-all.ts";
import type { Adds } from "../../kernel/store.ts";
import { slotOf } from "../../kernel/names/slots.ts";
import { PartitionAdds } from "./add.ts";
import { partitionsOf, readMap } from "./map.ts";
import type { Partitions } from "./partitions.ts";

/**
 * The store of a queue with partitions, for those that do not consume it.
 * @param plain that of the same queue without them
 */
export function partitionedAdds(plain: Adds, partitions: Partitions): Adds {
  const { transport } = plain.queue;
  const adds = new PartitionAdds(partitions);
  const shardsOf = (places: readonly number[]) => places.map((place) => partitions.shard(place));
  const store: Adds = {
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
  };
  return store;
}
