/** The ids and the token of an enqueue with an idempotency key. */
import { ENVELOPE_BASE64 } from "../record/envelope.ts";
import { derivedName } from "../names/derived-ids.ts";
import { writeFixed } from "../record/record.ts";
import type { EnqueueOptions, NewTask } from "../options/types.ts";
import { fixedOptions, uniqueness, whenReady } from "./task-options.ts";

export { derivedTaskIds } from "../names/derived-ids.ts";

/**
 * The token of a call with an idempotency key: `<key>.<tasks>`, 11 characters of a hash (65 bits) each. It
 * distinguishes a resend of the call from another call with the same key.
 * @param sealed the payloads of all tasks of the call, as they are stored
 */
export async function tokenOfKey(
  queue: string,
  key: string,
  tasks: readonly NewTask<unknown>[],
  sealed: readonly string[],
  at: (place: number) => string,
): Promise<string> {
  const contents = tasks.map((task, place) => [
    task.id ?? null,
    contentOf(task, sealed[place] ?? "", at(place)),
  ]);
  const parts = [derivedName("enqueue", queue, key), derivedName("tasks", JSON.stringify(contents))];
  return (await Promise.all(parts)).map((part) => part.slice(0, 11)).join(".");
}

/**
 * The content by which two calls with the same key are compared: the task as the caller gave it. Defaults of
 * the queue are left out, because a deployment may change them. An encrypted payload is left out too: it
 * differs each time, and no hash of it may be kept.
 */
function contentOf(task: EnqueueOptions, payload: string, at: string): readonly string[] {
  const compared = payload.startsWith(`b${ENVELOPE_BASE64}`) ? "" : payload;
  const record = writeFixed({ token: undefined, ...fixedOptions({}, task, at), payload: compared });
  return [whenReady({}, task, at), uniqueness(task, at), record];
}
