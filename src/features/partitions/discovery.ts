/**
 * Finds out whether a queue has partitions. The rest of this folder is loaded once it has, or is to get some: a queue
 * without partitions needs none of it.
 */
import { idsOf } from "../../kernel/enqueue/encoded.ts";
import { isPromise, type MaybePromise } from "../../kernel/maybe-promise.ts";
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
type Choose<S> = (signal: AbortSignal | undefined) => MaybePromise<S>;

/** Loads the store over the partitions of a queue. `wanted`: how many one without a map gets; undefined: no map. */
type Load<S extends Adds> = (plain: S, wanted: number | undefined) => Promise<Divided<S>>;

/** The store of a queue that may have partitions, for those that do not consume it: see {@link discovering}. */
export function discoverForAdds(plain: Adds, wanted?: number | "stored"): Adds & MaybeDivided {
  const load: Load<Adds> = async (...args) =>
    (await import("./partitioned-adds.ts")).partitionedAdds(...args);
  return discovering(plain, wanted, load).adds;
}

/** The store of a queue that may have partitions: see {@link discovering}. */
export function discover(plain: Store, wanted?: number | "stored"): Store & MaybeDivided {
  const { adds, run, found, loaded, load } = discovering(plain, wanted, async (...args) =>
    (await import("./partitioned-store.ts")).partitionedStore(...args),
  );
  /** For a batch whose receipts name partitions, the store over these. */
  const settling = ({ settlements }: SettleBatch, otherwise: Choose<Store>): Choose<Store> => {
    if (!settlements.some(({ receipt }) => namesPlace(receipt))) return otherwise;
    return async (signal) => {
      const { store } = await load();
      await otherwise(signal);
      return store;
    };
  };
  return {
    ...adds,
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
 * @returns its part for those that do not consume the queue, and what other calls need
 * @throws {SluiceError} `invalid_argument`
 */
function discovering<S extends Adds>(plain: S, wanted: number | "stored" = 1, loadDivided: Load<S>) {
  const { queue } = plain;
  const count = wanted === "stored" ? undefined : partitionCount(wanted);
  /** Whether to look for partitions before a call. */
  let isSought = count !== 1 || isKnownSplit(queue);
  let divided: Divided<S> | undefined;
  const load = async (): Promise<Divided<S>> => {
    const own = divided ?? (await loadDivided(plain, count === 1 ? undefined : count));
    isSought = true;
    return (divided ??= own);
  };
  const known = (): S => (divided?.partitions.isSplit ? divided.store : plain);

  /** By a map that this instance has read within a minute, or reads now. */
  const found = (signal: AbortSignal | undefined, fresh = false): MaybePromise<S> => {
    const read = async () => {
      const { store, partitions } = await load();
      const map = fresh ? partitions.storedMap(signal) : partitions.map(signal);
      return (await map).version > 0 ? store : plain;
    };
    return isSought ? read() : plain;
  };

  /** By what is known of the partitions. */
  const loaded = (): MaybePromise<S> => (isSought ? load().then(known) : plain);

  /** @param use uses a store. Called again if the queue turns out to have partitions: it has then changed nothing */
  const run = async <T>(
    choose: Choose<S>,
    use: (store: S) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    const wasSplit = divided?.partitions.isSplit === true;
    try {
      const chosen = choose(signal);
      return await use(isPromise(chosen) ? await chosen : chosen);
    } catch (error) {
      if (wasSplit || !isWrongType(error)) throw error;
      const { partitions } = await load();
      if (!(await partitions.find(signal))) throw error;
      return use(known());
    }
  };

  const adds: S & MaybeDivided = {
    ...plain,
    divided: load,
    add: async (batch: AddBatch) => {
      const use = isSought ? await found(batch.signal) : plain;
      if (use !== plain) return use.add(batch);
      const ids = batch.ids ?? (await idsOf(batch.drafts));
      const once = { ...batch, ids, encode: encodingOnce(batch, ids) };
      const addTo = (to: S) => to.add(to === plain ? once : { ...once, isAgain: true });
      return run(() => plain, addTo, batch.signal);
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
  };
  return { adds, run, found, loaded, load };
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
