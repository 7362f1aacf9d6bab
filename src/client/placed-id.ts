import { derivedTaskIds } from "../kernel/names/derived-ids.ts";
import { slotOf } from "../kernel/names/slots.ts";
import type { EnqueueOptions } from "../kernel/options/types.ts";

/**
 * The id of a task that has a group, a dedup key, or an idempotency key.
 * @param generated the id, unless there is an idempotency key
 * @param sealed what makes an id from the idempotency key. Otherwise the server does: but an encrypted payload is bound to
 *   its id
 * @returns the id with the tag of what says where the task goes if its queue has partitions. The server takes it for
 *   an id of the caller's. Undefined if the server makes the id
 */
export async function placedId(
  generated: string | undefined,
  { dedup, group }: EnqueueOptions,
  sealed: false | readonly [queue: string, key: string | undefined, index: number],
): Promise<string | undefined> {
  const [queue, key, index] = sealed || [];
  const derived = key !== undefined && (await derivedTaskIds(queue as string, key))(index as number);
  const id = derived || generated;
  const place = dedup?.key ?? group;
  // The server refuses a key that is no text.
  if (id === undefined || typeof place !== "string") return id;
  const slot = slotOf(place);
  let tag = 0;
  while (slotOf(String(tag)) !== slot) tag++;
  return `${id}{${tag}}`;
}
