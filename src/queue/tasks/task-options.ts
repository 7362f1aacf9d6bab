/** What a caller may say of one task at enqueue, checked and as the script takes it. */
import { invalidArgument, SluiceError } from "../../errors.ts";
import { milliseconds } from "../core/duration.ts";
import { ENVELOPE_BASE64 } from "../core/envelope.ts";
import { derivedName } from "../core/ids.ts";
import { LAST_DUE, onlyOptions, recordName, taskId, trueOrFalse, wholeNumber } from "../core/validation.ts";
import { asciiJson, MAX_HEADER_BYTES, writeFixed } from "../core/record.ts";
import type { EnqueueOptions, TaskDefaults } from "../core/types.ts";

/**
 * The token of a call with an idempotency key: `<key>.<tasks>`, 11 characters of a hash (65 bits) each. It
 * tells a resend of the call from another call with the same key.
 */
export async function callToken(queue: string, key: string, tasks: readonly unknown[]): Promise<string> {
  const parts = [derivedName("enqueue", queue, key), derivedName("tasks", JSON.stringify(tasks))];
  return (await Promise.all(parts)).map((part) => part.slice(0, 11)).join(".");
}

/**
 * What two calls with the same key are compared by: the task as the caller gave it. Defaults of the queue are
 * left out, as they may change with a deployment. So is an encrypted payload: it differs each time, and no hash
 * of it may be kept.
 */
export function contentOf(task: EnqueueOptions, payload: string, at: string): readonly string[] {
  const compared = payload.startsWith(`b${ENVELOPE_BASE64}`) ? "" : payload;
  const record = writeFixed({ token: undefined, ...fixedOptions({}, task, at), payload: compared });
  return [whenReady({}, task, at), uniqueness(task, at), record];
}

/** When a task is due, as the enqueue script takes it. */
export function whenReady(defaults: TaskDefaults, task: EnqueueOptions, at: string): string {
  if (task.at !== undefined) {
    if (task.delay !== undefined) {
      throw invalidArgument(`${at}at`, `and ${at}delay exclude each other`);
    }
    return String(wholeNumber(task.at, `${at}at`, 0, LAST_DUE));
  }
  const delay = task.delay ?? defaults.delay;
  const ms = delay === undefined ? 0 : milliseconds(delay, `${at}delay`);
  return ms > 0 ? `+${ms}` : "";
}

/** What makes a task unique, as the enqueue script takes it. */
export function uniqueness({ id, dedup, ...task }: EnqueueOptions, at: string): string {
  const again = trueOrFalse(task.again ?? false, `${at}again`);
  if (again && id === undefined) {
    throw invalidArgument(`${at}again`, "must have an id beside it");
  }
  if (dedup === undefined) return again ? "again" : "";
  if (again) {
    throw invalidArgument(`${at}again`, "must not stand beside dedup");
  }
  onlyOptions(dedup, ["key", "window"], `${at}dedup.`);
  const window = milliseconds(dedup.window, `${at}dedup.window`, { min: 1 });
  return `${window} ${taskId(dedup.key, `${at}dedup.key`)}`;
}

/** What a task fixes at enqueue, checked, beside its payload. */
export function fixedOptions(defaults: TaskDefaults, task: EnqueueOptions, at: string) {
  const lease = task.lease ?? defaults.lease;
  const maxAttempts = task.maxAttempts ?? defaults.maxAttempts;
  const resultTtl = task.resultTtl ?? defaults.resultTtl;
  const deadTtl = task.deadTtl ?? defaults.deadTtl;
  return {
    lease: lease === undefined ? undefined : milliseconds(lease, `${at}lease`, { min: 1 }),
    maxAttempts:
      maxAttempts === undefined ? undefined : wholeNumber(maxAttempts, `${at}maxAttempts`, 0, 1_000_000),
    resultTtl: resultTtl === undefined ? undefined : milliseconds(resultTtl, `${at}resultTtl`),
    deadTtl: deadTtl === undefined ? undefined : milliseconds(deadTtl, `${at}deadTtl`),
    group: task.group === undefined ? undefined : recordName(task.group, `${at}group`),
    priority: task.priority === undefined ? undefined : wholeNumber(task.priority, `${at}priority`, 0, 9),
    headers: task.headers === undefined ? undefined : checkedHeaders(task.headers, `${at}headers`),
  };
}

function checkedHeaders(headers: Readonly<Record<string, string>>, path: string) {
  const entries = headers !== null && typeof headers === "object" ? Object.entries(headers) : [["", 0]];
  for (const [name, value] of entries) {
    if (name === "" || typeof value !== "string") {
      throw invalidArgument(path, "must be an object of texts with names that are not empty");
    }
  }
  const size = asciiJson(headers).length;
  if (size > MAX_HEADER_BYTES) {
    throw new SluiceError(
      "too_large",
      `${path} have ${size} bytes of JSON; at most ${MAX_HEADER_BYTES} are allowed`,
      path,
    );
  }
  return entries.length > 0 ? headers : undefined;
}
