/** Where an enqueue with a key goes in a queue that may have partitions. */
import { invalidArgument, SluiceError } from "../../errors.ts";
import { slotOf } from "../../kernel/names/slots.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { Adds } from "../../kernel/store.ts";
import type { KeyedReply } from "./debounce-scripts.ts";

/** What the store over partitions knows of them. */
interface Partitions {
  map(signal?: AbortSignal): Promise<PartitionMap>;
  /** The map after a partition has answered that it does not own a slot. */
  refresh(stale: PartitionMap, tries: number, signal?: AbortSignal): Promise<PartitionMap>;
  shard(partition: number): Shard;
}

interface PartitionMap {
  readonly version: number;
  /** The owner of each slot. */
  readonly owners: readonly number[];
  /** Partitions that owned slots which others own now. */
  readonly former: readonly number[];
}

type MaybeDivided = Adds & {
  readonly divided?: () => Promise<{ readonly partitions: Partitions }>;
};

/** A generated id, that of a client with a group included: readers look for it in all partitions. */
const ANYWHERE = /^[0-9A-Za-z]{20}(?:[0-9A-Za-z]{2}|\{\d+\})?$/;

/** The reply of the shard that has done what is to be done. */
export type PlacedReply = Exclude<KeyedReply, { readonly status: "moved" | "unknown" }>;

/** @throws {SluiceError} if the shard has done nothing, because its slots change hands for too long */
function placed(reply: KeyedReply): PlacedReply {
  if (reply.status !== "moved" && reply.status !== "unknown") return reply as PlacedReply;
  throw new SluiceError("redis_unreachable", "the partitions of the queue change; try again");
}

/**
 * Sends an enqueue to where its key is. In a queue with partitions, those that once owned the slot of the key are asked
 * first: one that has the task of the key does what is to be done.
 * @param key what must be unique: the key, or the id to be replaced
 * @param id the caller's
 * @param send runs the script on a shard. `slots`: as the script takes them; `slot`: for new ids
 */
export function placeKeyed(
  store: MaybeDivided,
  key: string,
  id: string | undefined,
  signal: AbortSignal | undefined,
  send: (shard: Shard, slots: string, slot?: number) => Promise<KeyedReply>,
): Promise<PlacedReply> {
  return store.over(
    async () => {
      const shard = await store.ownerOf(key, { signal });
      if (!shard.isPart || !store.divided) return placed(await send(shard, ""));
      const slot = slotOf(key);
      if (id !== undefined && !ANYWHERE.test(id) && slotOf(id) !== slot) {
        throw invalidArgument(
          "id",
          `must have {${key}} in it: in a queue with partitions a task is where its key is`,
        );
      }
      const { partitions } = await store.divided();
      let map = await partitions.map(signal);
      for (let tries = 1; map.version > 0; tries++) {
        const owner = map.owners[slot] as number;
        for (const former of map.former) {
          const reply = former === owner ? undefined : await send(partitions.shard(former), "?", slot);
          if (reply && reply.status !== "unknown") return placed(reply);
        }
        const reply = await send(partitions.shard(owner), `${map.version}:${slot}`, slot);
        if (reply.status !== "moved") return placed(reply);
        map = await partitions.refresh(map, tries, signal);
      }
      return placed(await send(partitions.shard(0), "", slot));
    },
    { signal },
  );
}
