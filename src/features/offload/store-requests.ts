import { messageOf, SluiceError } from "../../errors.ts";
import { retry, Transient, type RetryPolicy } from "../../retry.ts";
import type { ObjectPage, ObjectRequest, ObjectStore } from "./object-store.ts";

/** Most requests of one call that run at the same time. A Worker opens no more connections than these. */
const MAX_CONCURRENT = 6;

/** The slowest connection for which a request has time, bytes per ms. */
const SLOWEST = 1_000;

/** For requests whose failure the sweep makes up for. */
const BRIEFLY: RetryPolicy = {
  deadline: 5_000,
  tryTimeout: 5_000,
  tries: 2,
  firstWait: 100,
  longestWait: 100,
};

function policyFor(bytes: number): RetryPolicy {
  const tryTimeout = 10_000 + bytes / SLOWEST;
  return { deadline: 2 * tryTimeout, tryTimeout, tries: 4, firstWait: 100, longestWait: 2_000 };
}

/** Requests to a store, each tried a few times. */
export class StoreRequests {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** @throws {SluiceError} `offload_failed` */
  put(key: string, bytes: Uint8Array, sha256: Uint8Array): Promise<void> {
    return tried("write an object", policyFor(bytes.length), (request) =>
      this.#store.put(key, bytes, { ...request, sha256 }),
    );
  }

  /**
   * @param length of the object, if it is known
   * @throws {SluiceError} `offload_failed`
   */
  get(key: string, length = 0): Promise<Uint8Array | null> {
    return tried("read an object", policyFor(length), (request) => this.#store.get(key, request));
  }

  /** @throws {SluiceError} `offload_failed` */
  list(prefix: string, after: string | undefined): Promise<ObjectPage> {
    return tried("list objects", policyFor(0), (request) => this.#store.list(prefix, after, request));
  }

  /** @throws {SluiceError} `offload_failed` */
  async delete(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await tried("delete objects", policyFor(20_000 * keys.length), (request) =>
      this.#store.delete(keys, request),
    );
  }

  /** Deletes objects. If that fails, a sweep deletes them later. */
  async deleteIfPossible(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await tried("delete objects", BRIEFLY, (request) => this.#store.delete(keys, request)).catch(() => {});
  }
}

function tried<T>(
  what: string,
  policy: RetryPolicy,
  attempt: (request: ObjectRequest) => Promise<T>,
): Promise<T> {
  return retry({
    policy,
    signal: undefined,
    attempt: async (currentTry) => {
      try {
        return await attempt({ signal: currentTry.signal });
      } catch (error) {
        throw error instanceof SluiceError ? error : new Transient(messageOf(error));
      }
    },
    giveUp: (last, effort) =>
      new SluiceError(
        "offload_failed",
        `the object store did not ${what} in ${effort}; the last time: ${last.message}`,
      ),
  });
}

/**
 * Runs an asynchronous function for each item, a few at the same time. Waits for all of them, also if one fails.
 * @throws the first error
 */
export async function each<T, R>(
  items: readonly T[],
  run: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const errors: unknown[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [i, item] of queue) {
      if (errors.length > 0) return;
      try {
        results[i] = await run(item, i);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT, items.length) }, worker));
  if (errors.length > 0) throw errors[0];
  return results;
}

export async function sha256Of(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
}
