import { type ObjectStore, offload, type ObjectOffload } from "../features/offload/index.ts";
import type { Offload } from "../features/offload/types.ts";

const PAGE = 1_000;

/** An object store in memory, for `offload` in tests. */
export function memoryStore(): ObjectStore {
  const objects = new Map<string, { readonly bytes: Uint8Array; readonly writtenAt: number }>();
  return {
    async put(key, bytes) {
      objects.set(key, { bytes: bytes.slice(), writtenAt: Date.now() });
    },
    async get(key) {
      return objects.get(key)?.bytes.slice() ?? null;
    },
    async delete(keys) {
      for (const key of keys) objects.delete(key);
    },
    async list(prefix, after = "") {
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
      const page = keys.slice(0, PAGE);
      return {
        objects: page.map((key) => ({ key, writtenAt: objects.get(key)?.writtenAt ?? 0 })),
        next: keys.length > PAGE ? (page.at(-1) ?? null) : null,
      };
    },
  };
}

/**
 * Makes a function for one test: it returns an `offload` with the limits of another, and a store in memory, always
 * the same for the same one.
 */
export function storesInMemory(): (offload: Offload) => Offload {
  const made = new Map<Offload, Offload>();
  return (offload) => {
    const found = made.get(offload);
    if (found) return found;
    const own = "withStore" in offload ? (offload as ObjectOffload).withStore(memoryStore()) : offload;
    // What was made stays as it is.
    made.set(offload, own).set(own, own);
    return own;
  };
}

/** The deployment's `offload`, or one with the default limits if the environment of the test has no store for it. */
export function offloadOrDefault<Env>(make: ((env: Env) => Offload) | undefined, env: Env): Offload {
  try {
    if (make) return make(env);
  } catch {
    // Its store is replaced in any case.
  }
  return offload({ store: memoryStore() });
}
