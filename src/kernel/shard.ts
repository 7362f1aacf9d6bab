import { type Keys, queueKeys } from "./names/keys.ts";
import type { callOf, QueueBinding } from "./scripts/binding.ts";
import { Note } from "./note.ts";
import { type CallOfScript, scriptCall } from "./call.ts";
import { type QueueRef, testNowOf } from "./queue-ref.ts";
import type { SendOptions } from "./transport.ts";

/** The arguments of a script, by name. The shard gives the test clock. */
export type ArgumentsOf<B extends QueueBinding> = Omit<Parameters<typeof callOf<B>>[2], "testNow">;

export type ItemsOf<B extends QueueBinding> = Parameters<typeof callOf<B>>[3];

/** The reply of a script. */
export type ReplyTo<B extends QueueBinding> = ReturnType<B["decode"]>;

/** One set of keys: a queue, or a part of a queue that is divided. It makes calls, and sends nothing. */
export class Shard {
  readonly queue: QueueRef;
  /** Its place among the shards of the queue, as receipts have it; 0 if the queue is not divided. */
  readonly place: number;
  /** Its name in the registry, such as `emails`, or `emails/3` for a part. */
  readonly name: string;
  readonly keys: Keys;

  /**
   * @param place @default 0
   * @param name its name in the registry. @default that of the queue
   */
  constructor(queue: QueueRef, place = 0, name: string = queue.name) {
    this.queue = queue;
    this.place = place;
    this.name = name;
    this.keys = queueKeys(name, queue.prefix);
  }

  /** Whether it is a part of a divided queue, which may have only this one. */
  get isPart(): boolean {
    return this.name !== this.queue.name;
  }

  /** The note that it is in use. */
  note(): Note {
    return new Note(this.queue, this.keys, this.name);
  }

  /**
   * A call of a script on these keys.
   * @param note goes in front of it. @default none
   */
  call<const B extends QueueBinding>(
    binding: B,
    args: ArgumentsOf<B>,
    items: ItemsOf<B> = [],
    note?: Note,
  ): CallOfScript<ReplyTo<B>> {
    const given = { testNow: testNowOf(this.queue), ...args } as Parameters<typeof callOf<B>>[2];
    return { ...scriptCall(binding, this.keys, given, items), note };
  }
}

/**
 * Reads the places of all shards that queues may have, even of those that nothing else names any more. A queue that is
 * not divided has none. A queue whose places cannot be read is left out. One request.
 */
export type PlacesOf = (
  queues: readonly string[],
  where: Pick<QueueRef, "transport" | "prefix"> & SendOptions,
) => Promise<ReadonlyMap<string, readonly number[]>>;
