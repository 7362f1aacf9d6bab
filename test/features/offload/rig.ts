import { offload, type OffloadOptions } from "../../../src/features/offload/offload.ts";
import type { ObjectStore } from "../../../src/features/offload/object-store.ts";
import { memoryStore } from "../../../src/testing/memory-store.ts";
import { type Rig, START } from "../../support/rig.ts";

/** A store in memory whose clock, faults and requests a test controls. */
export interface TestStore extends ObjectStore {
  /** When objects are written, epoch ms. */
  now: number;
  /** What each request does before the store answers it, such as to throw. */
  before: (method: "put" | "get" | "delete" | "list", key: string) => void | Promise<void>;
  /** All requests so far, as `put <key>`. */
  readonly requests: string[];
  /** The keys of the payloads that the store has. */
  keys(): Promise<string[]>;
}

export function testStore(now: number): TestStore {
  const inner = memoryStore();
  const writtenAt = new Map<string, number>();
  const noted = async (method: Parameters<TestStore["before"]>[0], key: string) => {
    store.requests.push(`${method} ${key}`);
    await store.before(method, key);
  };
  const store: TestStore = {
    now,
    before: () => {},
    requests: [],
    async put(key, bytes, options) {
      await noted("put", key);
      writtenAt.set(key, store.now);
      await inner.put(key, bytes, options);
    },
    async get(key, options) {
      await noted("get", key);
      return inner.get(key, options);
    },
    async delete(keys, options) {
      await noted("delete", keys.join());
      await inner.delete(keys, options);
    },
    async list(prefix, after, options) {
      await noted("list", after ?? "");
      const page = await inner.list(prefix, after, options);
      const objects = page.objects.map(({ key }) => ({ key, writtenAt: writtenAt.get(key) ?? store.now }));
      return { ...page, objects };
    },
    async keys() {
      const { objects } = await inner.list("sluice/", undefined, {});
      return objects.map(({ key }) => key).filter((key) => !key.endsWith("~position"));
    },
  };
  return store;
}

/** An `offload` that keeps payloads of more than 100 bytes in the store. */
export const offloading = (store: ObjectStore, options: Partial<OffloadOptions> = {}) =>
  offload({ store, over: 100, ...options });

/** A payload that goes to the store; `name` distinguishes it. */
export const large = (name: string) => ({ name, text: "x".repeat(200) });

/** The queue and the operator of a rig, with a new store for large payloads. */
export function withStore(rig: Rig, options: Partial<OffloadOptions> = {}) {
  const store = testStore(START);
  const offload = offloading(store, options);
  return { store, offload, queue: rig.queue({ offload }), operator: rig.operator({ offload }) };
}

export const down = () => {
  throw new Error("the store is down");
};
