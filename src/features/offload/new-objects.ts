import { SluiceError } from "../../errors.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import type { AddBatch, AddedTask, AddReply, Adds, Failed, Item } from "../../kernel/store.ts";
import { byteLength } from "../../kernel/record/byte-length.ts";
import { encodeValue } from "../../kernel/record/codec.ts";
import { newToken } from "../../kernel/names/ids.ts";
import { toBytes } from "../../kernel/record/value-bytes.ts";
import { objectKey } from "./object-keys.ts";
import { writeReference } from "./reference.ts";
import { each, sha256Of, type StoreRequests } from "./store-requests.ts";

/**
 * How long after it wrote an object an enqueue may begin, ms. It is far less than the age from which a sweep
 * removes objects that no task needs, so that the process cannot be suspended between the two.
 */
const LONGEST_PAUSE = 600_000;

/** An object that was written for a task which is not added yet. */
interface NewObject {
  readonly key: string;
  /** Epoch ms, by the clock of this process. */
  readonly writtenAt: number;
}

/** Moves the large payloads of new tasks to an object store. */
export class NewObjects {
  readonly #requests: StoreRequests;
  readonly #area: () => Promise<string>;
  readonly #queue: QueueRef;
  readonly #over: number;

  /**
   * @param area reads the area that the database's objects have
   * @param over payloads of more bytes than this go to the store
   */
  constructor(requests: StoreRequests, area: () => Promise<string>, queue: QueueRef, over: number) {
    this.#requests = requests;
    this.#area = area;
    this.#queue = queue;
    this.#over = over;
  }

  /**
   * Adds tasks. Removes the objects of those that were not added, if that is certain.
   * @throws {SluiceError} `offload_failed`, and what the store throws
   */
  async add(next: Adds, batch: AddBatch): Promise<AddReply> {
    const objects = new Map<number, NewObject>();
    let copies = 0;
    const encode: AddBatch["encode"] = async (places, ids) => {
      const items = await batch.encode(places, ids);
      if (!items.some((item) => this.#isLarge(item))) return items;
      return this.#moved(items, batch.refuseEach, (i, object) => objects.set(places[i] as number, object));
    };
    const onSend = () => {
      copies++;
      refuseOld(objects.values());
      batch.onSend?.();
    };
    const onNothing = () => {
      copies--;
      batch.onNothing?.();
    };
    const reply = await next.add({ ...batch, encode, onSend, onNothing });
    // Of several copies of the request, one may still be on its way, and may add the task. A sweep removes the object
    // if not.
    if (copies === 1) {
      const unneeded = [...objects].filter(([place]) => isNotAdded(reply.added[place]));
      await this.#requests.deleteIfPossible(unneeded.map(([, { key }]) => key));
    }
    return reply;
  }

  /**
   * Writes the large payloads. In the records are references to them.
   * @param refuseEach whether each task fails alone
   * @throws {SluiceError} `offload_failed`, or a fault of the transport; nothing is left in the store, as far as it
   *   can be reached
   */
  async #moved(
    items: readonly (Item | Failed)[],
    refuseEach: boolean,
    onWritten: (i: number, object: NewObject) => void,
  ): Promise<readonly (Item | Failed)[]> {
    const keys: string[] = [];
    try {
      const area = await this.#area();
      return await each(items, async (item, i): Promise<Item | Failed> => {
        if (!this.#isLarge(item)) return item;
        const { name: queue, prefix } = this.#queue;
        const name = newToken();
        const key = objectKey(prefix, area, { queue, id: item.id, name });
        keys.push(key);
        const bytes = toBytes(item.payload);
        const writtenAt = Date.now();
        const sha256 = await sha256Of(bytes);
        try {
          await this.#requests.put(key, bytes, sha256);
        } catch (failed) {
          if (!refuseEach) throw failed;
          await this.#requests.deleteIfPossible([key]);
          return { failed };
        }
        onWritten(i, { key, writtenAt });
        const reference = writeReference({ length: bytes.length, sha256, area, name });
        return { ...item, payload: encodeValue(reference, "payload") };
      });
    } catch (error) {
      // Nothing refers to these objects yet.
      await this.#requests.deleteIfPossible(keys);
      throw error;
    }
  }

  #isLarge(item: Item | Failed): item is Item {
    if ("failed" in item) return false;
    const { payload } = item;
    // A character has at most three bytes. Base64 has four characters for three bytes.
    return payload[0] === "b"
      ? payload.length * 0.75 > this.#over
      : byteLength(payload, this.#over) > this.#over;
  }
}

function refuseOld(objects: Iterable<NewObject>): void {
  for (const { writtenAt } of objects) {
    if (Date.now() - writtenAt <= LONGEST_PAUSE) continue;
    throw new SluiceError("offload_failed", "the process was suspended after it wrote the payload's object");
  }
}

/** Whether it is certain that a task was not added. */
function isNotAdded(added: AddedTask | undefined): boolean {
  if (!added || "failed" in added) return false;
  return "refused" in added || !added.created;
}
