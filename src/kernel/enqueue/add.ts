/** Adding any tasks to one shard. */
import { type EnqueueRefusal, enqueueScript } from "../scripts/enqueue-script.ts";
import { type Call, run } from "../call.ts";
import type { Shard } from "../shard.ts";
import type { AddBatch, AddReply, Item } from "../store.ts";
import type { Encoded } from "./encoded.ts";

export type EnqueueReply = ReturnType<typeof enqueueScript.decode>;

interface AddOptions {
  /** Whether each task is refused alone. */
  readonly refuseEach: boolean;
  /** How long a wake of a consumer counts, ms, as the script takes it. @default none is to be woken */
  readonly wakeWindow?: string | undefined;
  /** As the script takes them. @default the queue is not divided */
  readonly slots?: string | undefined;
  /** Whether it reads the queue's settings in any case. @default only once a minute, and if enqueues must */
  readonly readsSettings?: boolean;
}

/** The call that adds tasks to a shard. */
export function addCall(
  shard: Shard,
  items: readonly Item[],
  { refuseEach, wakeWindow = "", slots = "", readsSettings = false }: AddOptions,
): Call<EnqueueReply> {
  const note = shard.note();
  const withSettings = readsSettings || note.mustReadSettings ? "1" : "";
  const args = { withSettings, wake: wakeWindow, refuseEach: refuseEach ? "1" : "", slots } as const;
  return learning(shard.call(enqueueScript, args, items.map(asArguments), note));
}

/**
 * Adds any tasks to the only shard of a queue.
 * @param readsSettings as {@link addCall} takes it
 */
export async function addInFull(
  shard: Shard,
  { drafts, refuseEach, wakeWindow, signal, onSend }: AddBatch,
  { items, places, added }: Encoded,
  readsSettings: boolean,
): Promise<AddReply> {
  const call = addCall(shard, items, { refuseEach, wakeWindow, readsSettings });
  const { refused, tasks, wake } = await run(shard.queue.transport, call, { signal, onSend });
  const byPlace = Array<Item | undefined>(drafts.length).fill(undefined);
  for (const [i, place] of places.entries()) {
    const answer = refused ? { refused: refused as EnqueueRefusal } : tasks[i];
    if (answer) added[place] = answer;
    byPlace[place] = items[i];
  }
  return { items: byPlace, added, wake, after: [] };
}

/** A call whose reply says whether enqueues must read the queue's settings. Its note remembers that. */
export function learning<T extends Pick<EnqueueReply, "mustReadSettings">>(call: Call<T>): Call<T> {
  const read: Call<T>["read"] = (outcome) => {
    const reply = call.read(outcome);
    call.note?.learn(reply.mustReadSettings);
    return reply;
  };
  return { ...call, read };
}

export const asArguments = ({ id, when, unique, front, payload }: Item) => ({
  id,
  when,
  unique,
  record: front + payload,
});
