/** Adding plain tasks to one shard, by a script that is much smaller than the one for all tasks. */
import { enqueuePlainScript } from "../scripts/enqueue-plain-script.ts";
import type { Call } from "../call.ts";
import type { AddPlainly, Draft, Item } from "../store.ts";

/** Most tasks of one call of the script. */
const MOST = 490;

/**
 * Whether tasks are plain: for now, without group, priority or anything that makes them unique. Their ids are new, so
 * the script finds none of them, except in a resend.
 * @param withIds whether they may have ids of the caller's, which the script may find
 */
export function arePlain(drafts: readonly Draft[], items: readonly Item[], withIds = false): boolean {
  if (items.length > MOST) return false;
  const isNew = ({ id, derivedId }: Draft) => id === undefined && derivedId === undefined;
  return (
    (withIds || drafts.every(isNew)) &&
    items.every(({ when, unique, front }) => when === "" && unique === "" && !/^[^\n]*;[GP]=/.test(front))
  );
}

/** The call that adds plain tasks. Wakes no consumer. */
export const addPlainlyCall: AddPlainly = (shard, note, items) => {
  const args = { withSettings: note.mustReadSettings ? "1" : "" };
  return learningPlain(shard.call(enqueuePlainScript, args, asRecords(items), note));
};

export const asRecords = (items: readonly Item[]) =>
  items.map(({ id, front, payload }) => ({ id, record: front + payload }));

/** A call whose note remembers whether enqueues must read the queue's settings, and whether it was refused. */
export function learningPlain<T extends { readonly mustReadSettings: boolean | undefined }>(
  call: Call<T | undefined>,
): Call<T | undefined> {
  const { note } = call;
  const read: typeof call.read = (outcome) => {
    const reply = call.read(outcome);
    if (reply) note?.learn(reply.mustReadSettings);
    else note?.refusePlain();
    return reply;
  };
  return { ...call, read };
}
