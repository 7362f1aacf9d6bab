import { redisTime } from "../../kernel/clock.ts";
import { tokenOf } from "../../kernel/call-token.ts";
import { whyNotAdded } from "../../kernel/enqueue/refusal.ts";
import { derivedName } from "../../kernel/names/derived-ids.ts";
import type { Enqueued, RequestOptions } from "../../kernel/options/types.ts";
import { requestKey } from "../../kernel/options/validation.ts";
import type { Adds } from "../../kernel/store.ts";
import { waitFor } from "../../kernel/unless-aborted.ts";
import { groupOfTask, occurrenceId, writeOccurrence } from "./schedule-record.ts";

/**
 * Enqueues a task of a schedule now: see `Schedules.run`.
 * @param schedule its name, and its task as it is stored
 * @throws {SluiceError} if the task is refused, or a fault of the transport
 */
export async function runSchedule(
  store: Adds,
  { name, task }: { readonly name: string; readonly task: string },
  options: RequestOptions,
): Promise<Enqueued> {
  const { queue } = store;
  const now = Math.floor(queue.now?.() ?? redisTime(queue.transport));
  const number = (await numberOf(name, options)) ?? now;
  const group = groupOfTask(task);
  // What is encrypted for the schedule can be opened for ids of this form alone.
  const id = store.shard(0).isPart && group !== "" ? occurrenceId(name, number, group) : `${name}.${number}`;
  const front = writeOccurrence(task, now, await tokenOf(queue, "run", options), undefined);
  const { signal } = options;
  const { added, after } = await store.add({
    drafts: [{ id, path: "" }],
    encode: () => [{ id, when: "", unique: "", front, payload: "" }],
    refuseEach: false,
    mayShare: false,
    signal,
  });
  if (after.length > 0) await waitFor(after, signal);
  const [answer] = added;
  if (!answer || !("created" in answer)) throw whyNotAdded(answer, queue.name);
  return { id, created: answer.created };
}

/** The number in the id of a call with an idempotency key, the same for each copy; no time has as many digits. */
async function numberOf(name: string, options: RequestOptions): Promise<number | undefined> {
  const key = requestKey(options);
  if (key === undefined) return undefined;
  const derived = await derivedName("run", name, key);
  const digits = Array.from(derived.slice(0, 15), (digit) => digit.charCodeAt(0) % 10).join("");
  return Number(`1${digits}`);
}
