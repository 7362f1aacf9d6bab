/** Adding any tasks to one shard. */
import { enqueueScript } from "../scripts/enqueue-script.ts";
import type { Call } from "../call.ts";
import type { Shard } from "../shard.ts";
import type { Item } from "../store.ts";

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
