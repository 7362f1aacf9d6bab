import { alertsKey } from "../../kernel/names/keys.ts";
import { slicesOf } from "../../kernel/slices.ts";
import { putRecords as put, type RecordChange } from "../../operate/put-records.ts";
import { replyAt } from "../../kernel/scripts/replies.ts";
import type { PassContext } from "./types.ts";

/** The most records that one command reads. */
const MOST_READ = 1_000;

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
export const putRecords = (
  changes: readonly RecordChange[],
  { transport, prefix, signal }: PassContext,
): Promise<boolean[]> => put(transport, alertsKey(prefix), changes, { signal });
