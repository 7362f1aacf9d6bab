/**
 * Finds out whether a queue has partitions. The rest of this folder is loaded once it has, or is to get some: a queue
 * without partitions needs none of it.
 */
import { idsOf } from "../../kernel/enqueue/encoded.ts";
import type { MaybePromise } from "../../kernel/maybe-promise.ts";
import { namesPlace } from "../../kernel/names/receipt.ts";
import { MAX_SHARDS } from "../../kernel/names/slots.ts";
import { wholeNumber } from "../../kernel/options/validation.ts";
import { isWrongType } from "../../kernel/scripts/wrong-type.ts";
import type { AddBatch, Adds, Failed, Item, SettleBatch, Store } from "../../kernel/store.ts";
import { isKnownSplit } from "./map-memory.ts";
import { partitionOf } from "./partitioned-queue.ts";
import type { Divided } from "./partitions.ts";

/** A store whose queue may have partitions, or get some. */
export interface MaybeDivided {
  /** Loads what works on the partitions as a whole. */
  readonly divided: () => Promise<Pick<Divided<Adds>, "partitions">>;
}

/** Chooses the store to use. */
type Choose = (signal: AbortSignal | undefined) => Promise<Store>;

/** Loads the store over the partitions of a queue. `wanted`: how many one without a map gets; undefined: no map. */
type Load<S extends Adds> = (plain: S, wanted: number | undefined) => Promise<Divided<S>>;

/** {@link discovering} for those that do not consume the queue. */
export function discoverForAdds(plain: Adds, wanted?: number | "stored"): Adds & MaybeDivided {
  return discovering(plain, wanted, async (...args) =>
    (await import("./partitioned-adds.ts")).partitionedAdds(...args),
  );
}

/** {@link discovering} for those that consume the queue. */
export function discover(plain: Store, wanted?: number | "stored"): Store & MaybeDivided {
  return discovering(plain, wanted, async (...args) =>
    (await import("./partitioned-store.ts")).partitionedStore(...args),
  );
}

/** @throws {SluiceError} `invalid_argument` */
export function partitionCount(value: unknown, path = "partitions"): number {
  return wholeNumber(value, path, 1, MAX_SHARDS);
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
  /** Whether to look for partitions before a call. */
  let isSought = count !== 1 || isKnownSplit(queue);
  let divided: Divided<Store> | undefined;
  const load = async (): Promise<Divided<Store>> => {
    const loaded = divided ?? (await loadDivided(plainAdds, count === 1 ? undefined : count));
    isSought = true;
    return (divided ??= loaded as unknown as Divided<Store>);
  };
  const known = (): Store => (divided?.partitions.isSplit ? divided.store : plain);

  /** By a map that this instance has read within a minute, or reads now. */
  const found = async (signal: AbortSignal | undefined, fresh = false): Promise<Store> => {
    if (!isSought) return plain;
    const { store, partitions } = await load();
    const map = fresh ? partitions.storedMap(signal) : partitions.map(signal);
    return (await map).version > 0 ? store : plain;
  };

  /** By what is known of the partitions. */
  const loaded: Choose = async () => {
    await load();
    return known();
  };

  /** For a batch whose receipts name partitions, the store over these. */
  const settling = ({ settlements }: SettleBatch, otherwise: Choose): Choose => {
    const isOfPartitions = settlements.some(({ receipt }) => namesPlace(receipt));
    isSought ||= isOfPartitions;
    return async (signal) => {
      const use = await otherwise(signal);
      return isOfPartitions ? (await load()).store : use;
    };
  };

  /** @param use uses a store. Called again if the queue turns out to have partitions: it has then changed nothing */
  const run = async <T>(
    choose: Choose,
    use: (store: Store) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    const wasSplit = divided?.partitions.isSplit === true;
    try {
      return await use(isSought ? await choose(signal) : plain);
    } catch (error) {
      if (wasSplit || !isWrongType(error)) throw error;
      const { partitions } = await load();
      if (!(await partitions.find(signal))) throw error;
      return use(known());
    }
  };

  const store: Store & MaybeDivided = {
    ...plain,
    divided: load,
    add: async (batch) => {
      const use = isSought ? await found(batch.signal) : plain;
      if (use !== plain) return use.add(batch);
      const ids = batch.ids ?? (await idsOf(batch.drafts));
      const once = { ...batch, ids, encode: encodingOnce(batch, ids) };
      const addTo = (to: Store) => to.add(to === plain ? once : { ...once, isAgain: true });
      return run(async () => plain, addTo, batch.signal);
    },
    find: (id, call, isUnknown, options) =>
      run(found, (use) => use.find(id, call, isUnknown, options), options.signal),
    shard: (place) => {
      if (divided) return divided.partitions.shard(place);
      return place === 0 ? plain.shard(0) : partitionOf(queue, place);
    },
    shards: async (options) => (await found(options.signal, options.fresh)).shards(options),
    shardsCall: () => known().shardsCall?.(),
    having: async (id, options) => (await found(options.signal)).having(id, options),
    ownerOf: async (group, options) => (await found(options.signal)).ownerOf(group, options),
    over: (calls, { signal }) => run(loaded, () => calls(), signal),
    // Receipts name their partitions, so that it needs no map.
    settle: (batch) => run(settling(batch, loaded), (use) => use.settle(batch), batch.signal),
    take: (request) => run(found, (use) => use.take(request), request.requests.options.signal),
    settleAndTake: (batch, request) =>
      run(
        settling(batch, found),
        (use) => use.settleAndTake(batch, request),
        request.requests.options.signal,
      ),
    peek: (request) => run(found, (use) => use.peek(request), request.signal),
  };
  return store as unknown as S & MaybeDivided;
}

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
