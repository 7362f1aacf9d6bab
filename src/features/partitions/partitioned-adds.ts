import { run } from "../../kernel/call.ts";
import { slotOf } from "../../kernel/names/slots.ts";
import { exchangeAndRead } from "../../kernel/on-all.ts";
import type { Adds } from "../../kernel/store.ts";
import { addsTo } from "./add.ts";
import { mapCall } from "./map-calls.ts";
import { type Divided, Partitions } from "./partitions.ts";

/**
 * The partitions of a queue, and its store for those that do not consume it.
 * @param plain the store of the same queue without them
 * @param wanted how many partitions a queue without a map gets. @default it gets no map
 */
export function partitionedAdds<S extends Adds>(plain: S, wanted: number | undefined): Divided<S> {
  const { transport } = plain.queue;
  const partitions = new Partitions(plain.queue, wanted);
  const call = mapCall(plain.queue);
  const shardsOf = (places: readonly number[]) => places.map((place) => partitions.shard(place));
  const store: S = {
    ...plain,
    shard: (place) => partitions.shard(place),
    // Who finds out the partitions has read the map before, as fresh as it is wanted.
    shards: async ({ signal }) => shardsOf(await partitions.all(signal)),
    shardsCall: () => ({
      command: call.command,
      read: (outcome) => {
        // Without the first database, what is known of the partitions still counts.
        if (outcome && "reply" in outcome) partitions.remember(call.read(outcome));
      },
    }),
    ownerOf: async (group, { signal }) =>
      partitions.shard((await partitions.map(signal)).owners[slotOf(group)] as number),
    having: async (id, { signal }) => shardsOf(await partitions.having(id, signal)),
    add: addsTo(partitions),
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
  return { partitions, store };
}
