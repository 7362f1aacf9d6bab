import { invalidArgument, messageOf, SluiceError } from "../../errors.ts";
import type { Adds, SettleBatch, SettleReply, Store } from "../../kernel/store.ts";
import { isReference } from "../../kernel/record/envelope.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import { onlyOptions, wholeNumber } from "../../kernel/options/validation.ts";
import { fromBytes } from "../../kernel/record/value-bytes.ts";
import { asUnreadable } from "../../kernel/record/unreadable.ts";
import type { Values } from "../../kernel/values/values.ts";
import type { Offload, OrphanPassOptions, OrphanReport } from "./types.ts";
import { Areas } from "./areas.ts";
import { fetchTasks } from "./fetch-tasks.ts";
import { objectKey } from "./object-keys.ts";
import type { ObjectStore } from "./object-store.ts";
import { OrphanPass } from "./orphan-pass.ts";
import { NewObjects } from "./new-objects.ts";
import { readReference, type Reference } from "./reference.ts";
import { SettledObjects } from "./settled-objects.ts";
import { sha256Of, StoreRequests } from "./store-requests.ts";

export interface OffloadOptions {
  /** Where payloads go: `r2()`, `s3()` or `folder()`, or another {@link ObjectStore}. */
  readonly store: ObjectStore;
  /** Payloads of more bytes than this go to the store, 0 to 1,048,576. @default 262,144 (256 KiB) */
  readonly over?: number | undefined;
  /** Limit of a payload, bytes, 1 to 100,000,000. @default 10,000,000, the limit of the HTTP interface */
  readonly maxBytes?: number | undefined;
}

/**
 * Keeps large payloads in an object store. Redis then has a reference of about 100 bytes. Everything that uses the
 * queue needs the same store: producers, consumers, operators, and the sweep, which removes objects that no task
 * needs any more.
 * @param options the store, and from which size on it is used
 * @throws {SluiceError} `invalid_argument`
 * @example
 * const reports = new Queue("reports", { transport: upstash(env), offload: offload({ store: r2(env.PAYLOADS) }) });
 */
export function offload(options: OffloadOptions): ObjectOffload {
  return new ObjectOffload(options);
}

/** Large payloads in an object store. {@link offload} makes it. */
export class ObjectOffload implements Offload {
  readonly maxBytes: number;
  readonly #over: number;
  readonly #requests: StoreRequests;
  readonly #areas = new Areas();
  readonly #settled: SettledObjects;
  readonly #orphans: OrphanPass;

  /** @throws {SluiceError} `invalid_argument` */
  constructor(options: OffloadOptions) {
    onlyOptions(options, ["store", "over", "maxBytes"]);
    const { store, over = 262_144, maxBytes = 10_000_000 } = options;
    const methods = ["put", "get", "delete", "list"] as const;
    if (methods.some((method) => typeof store?.[method] !== "function")) {
      throw invalidArgument("store", "must be an object store, such as r2(), s3() or folder()");
    }
    this.#over = wholeNumber(over, "over", 0, 1_048_576);
    this.maxBytes = wholeNumber(maxBytes, "maxBytes", 1, 100_000_000);
    this.#requests = new StoreRequests(store);
    this.#settled = new SettledObjects(this.#requests);
    this.#orphans = new OrphanPass(this.#requests);
  }

  /** The same limits with another store, for tests. */
  withStore(store: ObjectStore): ObjectOffload {
    return new ObjectOffload({ store, over: this.#over, maxBytes: this.maxBytes });
  }

  layer<S extends Adds>(next: S): S {
    const { queue } = next;
    const objects = new NewObjects(this.#requests, () => this.#areas.of(queue), queue, this.#over);
    const store = next as unknown as Store;
    const removing = <Reply extends SettleReply>({ settlements }: SettleBatch, reply: Reply): Reply => {
      return { ...reply, after: [...reply.after, this.#settled.remove(settlements, reply.settled)] };
    };
    const layer: Pick<Store, "add" | "settle" | "settleAndTake"> = {
      add: (batch) => objects.add(next, batch),
      settle: async (batch) => removing(batch, await store.settle(batch)),
      settleAndTake: async (batch, request) => removing(batch, await store.settleAndTake(batch, request)),
    };
    return { ...next, ...layer };
  }

  values(next: Values, queue: QueueRef): Values {
    return {
      ...next,
      open: (of, stored) => {
        if (!isReference(stored)) return next.open(of, stored);
        const reference = readReference(stored);
        return this.#read(keyOf(queue, of.id, reference), reference).then((bytes) => next.open(of, bytes));
      },
      fetch: (readers, maxBytes, settle) => {
        const clock = queue.now ?? (() => performance.now());
        return fetchTasks(
          readers,
          maxBytes,
          ({ id, receipt, payload }) => {
            const reference = readReference(payload as Uint8Array);
            const key = keyOf(queue, id, reference);
            this.#settled.remember(receipt, key);
            return this.#read(key, reference);
          },
          settle,
          clock,
        );
      },
    };
  }

  async #read(key: string, { length, sha256 }: Reference): Promise<unknown> {
    const bytes = await this.#requests.get(key, length);
    if (!bytes) throw unreadable("is missing in the object store");
    const found = bytes.length === length && (await sha256Of(bytes));
    if (!found || found.some((byte, i) => byte !== sha256[i])) {
      throw unreadable("is damaged: it has another length or SHA-256 than its reference says");
    }
    return fromBytes(bytes);
  }

  async removeOrphans(options: OrphanPassOptions): Promise<OrphanReport> {
    try {
      return await this.#orphans.run(options);
    } catch (error) {
      if (error instanceof SluiceError && error.code === "aborted") throw error;
      return { checked: 0, removed: 0, error: messageOf(error) };
    }
  }
}

function keyOf({ name: queue, prefix }: QueueRef, id: string, { area, name }: Reference): string {
  return objectKey(prefix, area, { queue, id, name });
}

function unreadable(why: string): SluiceError {
  return asUnreadable(new SluiceError("offload_failed", `the object of the payload ${why}`));
}
