/** Adding plain tasks to one shard, by a script that is much smaller than the one for all tasks. */
import { enqueuePlainScript } from "../scripts/enqueue-plain-script.ts";
import type { Call } from "../call.ts";
import type { Note } from "../note.ts";
import type { Shard } from "../shard.ts";
import type { Draft, Item } from "../store.ts";

/** Most tasks of one call of the script. */
const MOST = 490;

/**
 * Whether tasks are plain: for now, without group, priority or anything that makes them unique. Their ids are new, so
 * the script finds none of them, except in a resend.
 */
export function arePlain(drafts: readonly Draft[], items: readonly Item[]): boolean {
  if (items.length > MOST) return false;
  const isNew = ({ id, derivedId }: Draft) => id === undefined && derivedId === undefined;
  return (
    drafts.every(isNew) &&
    items.every(({ when, unique, front }) => when === "" && unique === "" && !/^[^\n]*;[GP]=/.test(front))
  );
}

/**
 * The call that adds plain tasks.
 * @returns undefined if the script has written nothing, and the tasks must be added as any others; else whether a
 *   consumer is to be woken
 */
export function addPlainlyCall(
  shard: Shard,
  note: Note,
  items: readonly Item[],
  wakeWindow: string,
): Call<{ readonly wake: boolean } | undefined> {
  const args = { withSettings: note.mustReadSettings ? "1" : "", wake: wakeWindow, slots: "" } as const;
  const records = items.map(({ id, front, payload }) => ({ id, record: front + payload }));
  const call = shard.call(enqueuePlainScript, args, records, note);
  return {
    ...call,
    read: (outcome) => {
      const reply = call.read(outcome);
      if (reply) note.learn(reply.mustReadSettings);
      else note.refusePlain();
      return reply;
    },
  };
}
