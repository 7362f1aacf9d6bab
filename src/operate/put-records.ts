/** Records of a hash that is not a queue's, such as those of alerts: read and written as a whole. */
import { callOf, okay, type Binding } from "../kernel/scripts/binding.ts";
import { lastReply } from "../kernel/scripts/replies.ts";
import { slicesOf } from "../kernel/slices.ts";
import type { Reply, SendOptions, Transport } from "../kernel/transport.ts";
import { putRecords as script } from "../lua/put-records.gen.ts";

/** The most records that one script writes. */
const MOST_WRITTEN = 500;

/** A record to replace, if it is still as it was read. An empty text is no record. */
export interface RecordChange {
  readonly field: string;
  readonly was: string;
  readonly record: string;
}

export const putRecordsScript = {
  script,
  keys: ["records"],
  args: [],
  each: ["field", "was", "record"],
  decode: (reply: Reply) => okay("putRecords", reply).rest((item) => item.integer() === 1),
} as const satisfies Binding;

/** Replaces records of a hash, in one request. Returns for each change whether the record is now the given one. */
export async function putRecords(
  transport: Transport,
  key: string,
  changes: readonly RecordChange[],
  options: SendOptions = {},
): Promise<boolean[]> {
  if (changes.length === 0) return [];
  const calls = slicesOf(changes, MOST_WRITTEN).map((slice) =>
    callOf(
      putRecordsScript,
      { records: key },
      {},
      slice.map(({ field, was, record }) => ({ field, was, record })),
    ),
  );
  const outcomes = await transport.send(calls, options);
  return outcomes.flatMap((outcome) => putRecordsScript.decode(lastReply([outcome])));
}
