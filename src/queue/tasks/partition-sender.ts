import type { Keys } from "../core/keys.ts";
import { callOf } from "../redis/binding.ts";
import { replyAt } from "../redis/replies.ts";
import { askFormerScript } from "../redis/partition-scripts.ts";
import { enqueueScript } from "../redis/task-scripts.ts";
import type { SendOptions, Transport } from "../redis/transport.ts";
import type { SendToPartitions } from "./add-to-partitions.ts";
import { registration, sendNoted } from "./registration.ts";

export interface PartitionSenderOptions {
  readonly transport: Transport;
  readonly keysOf: (partition: number) => Keys;
  /** As the registry has a partition. */
  readonly nameOf: (partition: number) => string;
  /** The test clock as the scripts take it; empty for Redis's own time. */
  readonly testNow: string;
  /** How long a wake of a consumer counts, ms, as the scripts take it; empty to wake none. */
  readonly wake: string;
  /** "1" to refuse each task alone, "" to refuse all of them together. */
  readonly refuseEach: "1" | "";
  readonly signal: AbortSignal | undefined;
  /** As in {@link SendOptions}. */
  readonly onSend?: SendOptions["onSend"];
}

/** Returns a function that enqueues tasks in partitions, in one request, with the notes that this needs. */
export function partitionSender(options: PartitionSenderOptions): SendToPartitions {
  const { transport, keysOf, nameOf, testNow, wake, refuseEach, signal, onSend } = options;
  return async (parts) => {
    const calls = parts.map(({ partition, items, slots }) => {
      const keys = keysOf(partition);
      // Only to ask a partition what it knows does not use it. But a dead letter may begin a new life there.
      const isUsed = slots !== undefined || items.some(({ unique }) => unique === "again");
      const note = !isUsed ? undefined : registration(transport, keys, nameOf(partition), testNow);
      const args = { testNow, wake, refuseEach };
      if (slots === undefined) {
        const call = callOf(askFormerScript, keys, args, items);
        return { note, call, decode: askFormerScript.decode };
      }
      const withSettings = note?.readSettings ? "1" : "";
      const call = callOf(enqueueScript, keys, { ...args, withSettings, slots }, items);
      return { note, call, decode: enqueueScript.decode };
    });
    const { noted, outcomes } = await sendNoted(
      transport,
      calls.map(({ note }) => note?.command),
      calls.map(({ call }) => call),
      { signal, onSend },
    );
    return calls.map(({ note, decode }, i) => {
      const reply = decode(replyAt(outcomes, i));
      if (note && (!note.command || noted[i])) note.done(reply.mustReadSettings);
      return reply;
    });
  };
}
