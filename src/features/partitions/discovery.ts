/**
 * Finds out whether a queue has partitions. The rest of this folder is loaded once it has, or is to get some: a queue
 * without partitions needs none of it.
 */
import { idsOf } from "../../kernel/enqueue/encoded.ts";
import { Shard } from "../../kernel/shard.ts";
import type { AddBatch, Adds, Failed, Item, Store } from "../../kernel/store.ts";
import { nameOfShard } from "../../kernel/names/keys.ts";
import type { MaybePromise } from "../../kernel/maybe-promise.ts";
import { namesPlace } from "../../kernel/names/receipt.ts";
import type { Settlement } from "../../kernel/options/types.ts";
import type { SendOptions } from "../../kernel/transport.ts";
import { isKnownSplit, placeOfMap } from "./map-memory.ts";
import { partitionCount } from "./partition-count.ts";
import type { Divided, MaybeDivided } from "./divided.ts";
import { isWrongType } from "../../kernel/scripts/wrong-type.ts";

type Signal = AbortSignal | undefined;

/** Loads the store over the partitions of a queue. `wanted`: how many one without a map gets; undefined: no map. */
type Load<S extends Adds> = (plain: S, wanted: number | undefined) => Promise<Divided<S>>;

/** {@link discovering} for those that do not consume the queue. */
export function discoverForAdds(plain: Adds, wanted?: number | "stored"): Adds & MaybeDivided {
  return discovering(plain, wanted, async (...args) =>
    (await import("./divided-adds.ts")).dividedAdds(...args),
  );
}

/** {@link discovering} for those that consume the queue. */
export function discover(plain: Store, wanted?: number | "stored"): Store & MaybeDivided {
  return discovering(plain, wanted, async (...args) =>
    (await import("./divided-store.ts")).dividedStore(...args),
  );
}

/**
 * The store of a queue that may have partitions, or get some. Calls go to the queue's own keys until it turns out that
 * it has partitions: these keys then hold markers, on which each script fails at its first command, and has changed
 * nothing.
 * @param wanted over how many partitions the tasks of a queue that has none are to be spread; `"stored"` to read which
 *   it has before the first call. @default those that it has are found out
 * @throws {SluiceError} `invalid_argument`
 */
function discovering<S extends Adds>(
  plainAdds: S,
  wanted: number | "stored" = 1,
  loadDivided: Load<S>,
): S & MaybeDivided {
  // Who only adds never calls the other methods.
  const plain = plainAdds as unknown as Store;
  const { queue } = plain;
  const count = wanted === "stored" ? undefined : partitionCount(wanted);
  let divided: Divided<Store> | undefined;
  const load = async (): Promise<Divided<Store>> => {
    const loaded = divided ?? (await loadDivided(plainAdds, count === 1 ? undefined : count));
    isSought = true;
    return (divided ??= loaded as unknown as Divided<Store>);
  };
  /** Whether to look for partitions before a call. */
  let isSought = count !== 1 || isKnownSplit(queue.transport, placeOfMap(queue.name, queue.prefix));
  const known = (): Store => (divided?.partitions.isSplit ? divided.store : plain);

  /** The store to use, by a map that this instance has read within a minute. */
  const found = async (signal: Signal): Promise<Store> => {
    if (!isSought) return plain;
    const { store, partitions } = await load();
    return (await partitions.map(signal)).version > 0 ? store : plain;
  };

  /**
   * The store to use after a call of the plain one has failed.
   * @throws the error, unless it turns out that the queue has partitions: the call has then changed nothing
   */
  const afterFailure = async (error: unknown, signal: Signal): Promise<Store> => {
    if (!isWrongType(error)) throw error;
    const { partitions } = await load();
    if (!(await partitions.find(signal))) throw error;
    return known();
  };

  /** @param use uses a store. Called again if the queue turns out to have partitions */
  const run = async <T>(
    choose: (signal: Signal) => Promise<Store>,
    use: (store: Store) => Promise<T>,
    signal: Signal,
  ): Promise<T> => {
    const wasSplit = divided?.partitions.isSplit === true;
    try {
      return await use(isSought ? await choose(signal) : plain);
    } catch (error) {
      if (wasSplit) throw error;
      return use(await afterFailure(error, signal));
    }
  };

  const store: Store & MaybeDivided = {
    ...plain,
    divided: load,
    add: async (batch) => {
      const { signal } = batch;
      const use = isSought ? await found(signal) : plain;
      if (use !== plain) return use.add(batch);
      const ids = batch.ids ?? (await idsOf(batch.drafts));
      const once = { ...batch, ids, encode: encodingOnce(batch, ids) };
      try {
        return await plain.add(once);
      } catch (error) {
        return (await afterFailure(error, signal)).add({ ...once, isAgain: true });
      }
    },
    find: (id, call, isUnknown, options) =>
      run(found, (use) => use.find(id, call, isUnknown, options), options.signal),
    shard: (place) =>
      divided
        ? divided.partitions.shard(place)
        : place === 0
          ? plain.shard(0)
          : new Shard(queue, place, nameOfShard(queue.name, place)),
    shards: async (options) => (await found(options.signal)).shards(options),
    shardsCall: () => known().shardsCall?.(),
    having: async (id, options) => (await found(options.signal)).having(id, options),
    ownerOf: async (group, options) => (await found(options.signal)).ownerOf(group, options),
    over: (calls, { signal }: SendOptions) =>
      run(
        async () => (await load(), plain),
        () => calls(),
        signal,
      ),
    settle: (batch) => {
      const isOfPartitions = batch.settlements.some(isOfPartition);
      isSought ||= isOfPartitions;
      // It needs no map: receipts name their partitions.
      const choose = async () => {
        const { partitions, store } = await load();
        return partitions.isSplit || isOfPartitions ? store : plain;
      };
      return run(choose, (use) => use.settle(batch), batch.signal);
    },
    take: (request) => run(found, (use) => use.take(request), request.requests.options.signal),
    settleAndTake: (batch, request) => {
      const isOfPartitions = batch.settlements.some(isOfPartition);
      isSought ||= isOfPartitions;
      const { signal } = request.requests.options;
      const choose = async () => {
        const use = await found(signal);
        return isOfPartitions ? (await load()).store : use;
      };
      return run(choose, (use) => use.settleAndTake(batch, request), signal);
    },
    peek: (request) => run(found, (use) => use.peek(request), request.signal),
  };
  return store as unknown as S & MaybeDivided;
}

const isOfPartition = ({ receipt }: Settlement) => namesPlace(receipt);

/** Encodes the tasks of a batch for these ids once only, so that copies of the batch have the same records. */
function encodingOnce(batch: AddBatch, ids: readonly string[]): AddBatch["encode"] {
  let encoded: MaybePromise<readonly (Item | Failed)[]> | undefined;
  return async (places, wanted) => {
    if (!places.every((place, i) => wanted[i] === ids[place])) return batch.encode(places, wanted);
    encoded ??= batch.encode([...ids.keys()], ids);
    const all = await encoded;
    return places.length === ids.length ? all : places.map((place) => all[place] as Item | Failed);
  };
}
