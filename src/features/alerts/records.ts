import { alertsKey } from "../../kernel/names/keys.ts";
import { slicesOf } from "../../kernel/slices.ts";
import { putAlertsScript } from "./alert-scripts.ts";
import { callOf } from "../../kernel/scripts/binding.ts";
import { lastReply, replyAt } from "../../kernel/scripts/replies.ts";
import type { PassContext } from "./types.ts";

/** The most records that one command reads, and that one script writes. */
const MOST_READ = 1_000;
const MOST_WRITTEN = 500;

/** A record to replace, if it is still as it was read. An empty text is no record. */
export interface Change {
  readonly field: string;
  readonly was: string;
  readonly record: string;
}

/** Reads fields of the alerts' hash, in one request. Returns those that exist. */
export async function readRecords(
  fields: readonly string[],
  { transport, prefix, signal }: PassContext,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  if (fields.length === 0) return found;
  const slices = slicesOf(fields, MOST_READ);
  const commands = slices.map((slice) => ["HMGET", alertsKey(prefix), ...slice] as const);
  const outcomes = await transport.send(commands, { signal });
  for (const [i, slice] of slices.entries()) {
    const reply = replyAt(outcomes, i);
    for (const [j, field] of slice.entries()) {
      const record = Array.isArray(reply) ? (reply as readonly unknown[])[j] : null;
      if (typeof record === "string") found.set(field, record);
    }
  }
  return found;
}

/** Replaces records, in one request. Returns for each change whether the record is now the given one. */
export async function putRecords(
  changes: readonly Change[],
  { transport, prefix, signal }: PassContext,
): Promise<boolean[]> {
  if (changes.length === 0) return [];
  const at = { alerts: alertsKey(prefix) };
  const calls = slicesOf(changes, MOST_WRITTEN).map((slice) =>
    callOf(
      putAlertsScript,
      at,
      {},
      slice.map(({ field, was, record }) => ({ field, was, record })),
    ),
  );
  const outcomes = await transport.send(calls, { signal });
  return outcomes.flatMap((outcome) => putAlertsScript.decode(lastReply([outcome])));
}
