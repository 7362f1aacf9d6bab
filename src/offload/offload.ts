import { invalidArgument, messageOf, SluiceError } from "../errors.ts";
import { byteLength, encodeValue } from "../queue/core/codec.ts";
import { isReference } from "../queue/core/envelope.ts";
import { newToken } from "../queue/core/ids.ts";
import type { LeasedPayload } from "../queue/core/leased-payload.ts";
import type { Settled, Settlement, Settler } from "../queue/core/types.ts";
import { onlyOptions, wholeNumber } from "../queue/core/validation.ts";
import { fromBytes, toBytes } from "../queue/core/value-bytes.ts";
import { asUnreadable } from "../queue/values/encryption.ts";
import type {
  FetchedTasks,
  NewObject,
  ObjectsOfEnqueue,
  Offload,
  OffloadingQueue,
  OrphanPassOptions,
  OrphanReport,
  StoredPayload,
} from "../queue/values/offload.ts";
import { Areas } from "./areas.ts";
import { fetchTasks } from "./fetch-tasks.ts";
import { objectKey } from "./object-keys.ts";
import type { ObjectStore } from "./object-store.ts";
import { OrphanPass } from "./orphan-pass.ts";
import { readReference, type Reference, writeReference } from "./reference.ts";
import { SettledObjects } from "./settled-objects.ts";
import { each, sha256Of, StoreRequests } from "./store-requests.ts";

export interface OffloadOptions {
  /** Where payloads go: `r2()`, `s3()` or `folder()`, or another {@link ObjectStore}. */
  readonly store: ObjectStore;
  /** Payloads of more bytes than this go to the store, 0 to 1,048,576. @default 262,144 (256 KiB) */
  readonly over?: number | undefined;
  /** Limit of a payload, bytes, 1 to 100,000,000. @default 10,000,000, the limit of the HTTP interface */
  readonly maxBytes?: number | undefined;
}

/**
 * How long after it wrote an object an enqueue may begin, ms. It is far less than the age from which a sweep
 * removes objects that no task needs, so that the process cannot be suspended between the two.
 */
const LONGEST_PAUSE = 600_000;

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

  async write(
    queue: OffloadingQueue,
    payloads: readonly { readonly id: string; readonly text: string }[],
  ): Promise<readonly StoredPayload[]> {
    const { name: queueName, prefix, transport } = queue;
    if (!transport || !payloads.some(({ text }) => this.#isLarge(text))) return payloads;
    const area = await this.#areas.of({ transport, prefix });
    const written: string[] = [];
    try {
      return await each(payloads, async ({ id, text }) => {
        if (!this.#isLarge(text)) return { text };
        const bytes = toBytes(text);
        const name = newToken();
        const key = objectKey(prefix, area, { queue: queueName, id, name });
        written.push(key);
        const writtenAt = Date.now();
        const sha256 = await sha256Of(bytes);
        await this.#requests.put(key, bytes, sha256);
        const reference = writeReference({ length: bytes.length, sha256, area, name });
        return { text: encodeValue(reference, "payload"), object: { key, writtenAt } };
      });
    } catch (error) {
      // Nothing refers to these objects yet.
      await this.#requests.deleteIfPossible(written);
      throw error;
    }
  }

  #isLarge(text: string): boolean {
    // A character has at most three bytes. Base64 has four characters for three bytes.
    return text[0] === "b" ? text.length * 0.75 > this.#over : byteLength(text, this.#over) > this.#over;
  }

  enqueueing(items: readonly { readonly object?: NewObject | undefined }[]): ObjectsOfEnqueue | undefined {
    const objects = items.flatMap(({ object }, index) => (object ? [{ ...object, index }] : []));
    if (objects.length === 0) return undefined;
    if (objects.some(({ writtenAt }) => Date.now() - writtenAt > LONGEST_PAUSE)) {
      throw new SluiceError(
        "offload_failed",
        "the process was suspended after it wrote the payload's object",
      );
    }
    let copies = 0;
    return {
      onSend: () => {
        copies++;
      },
      finish: async (isNotAdded) => {
        // Of several copies of the request, one may still be on its way, and may add the task. A sweep removes
        // the object if not.
        if (copies !== 1) return;
        const refused = objects.filter(({ index }) => isNotAdded(index));
        await this.#requests.deleteIfPossible(refused.map(({ key }) => key));
      },
    };
  }

  fetch<Task extends LeasedPayload>(
    queue: OffloadingQueue,
    readers: readonly (() => Task)[],
    maxBytes: number,
    settle: Settler["settle"],
  ): Promise<FetchedTasks<Task>> {
    const read = (task: Task) => {
      this.#settled.remember(task.receipt, keyOf(queue, task.id, readReference(task.payload as Uint8Array)));
      return this.read(queue, task.id, task.payload);
    };
    return fetchTasks(readers, maxBytes, read, settle, queue.now ?? (() => performance.now()));
  }

  async read(queue: OffloadingQueue, id: string, value: unknown): Promise<unknown> {
    if (!isReference(value)) return value;
    const reference = readReference(value);
    const { length, sha256 } = reference;
    const bytes = await this.#requests.get(keyOf(queue, id, reference), length);
    if (!bytes) throw unreadable("is missing in the object store");
    const found = bytes.length === length && (await sha256Of(bytes));
    if (!found || found.some((byte, i) => byte !== sha256[i])) {
      throw unreadable("is damaged: it has another length or SHA-256 than its reference says");
    }
    return fromBytes(bytes);
  }

  settled(settlements: readonly Settlement[], settled: readonly Settled[]): Promise<void> {
    return this.#settled.remove(settlements, settled);
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

function keyOf({ name: queue, prefix }: OffloadingQueue, id: string, { area, name }: Reference): string {
  return objectKey(prefix, area, { queue, id, name });
}

function unreadable(why: string): SluiceError {
  return asUnreadable(new SluiceError("offload_failed", `the object of the payload ${why}`));
}
