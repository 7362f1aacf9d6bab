/**
 * How long the limits of flow control keys are needed: a program may have a key for each of its users. A key that has no
 * messages loses its limits some days after the last one could still be tried again.
 */
import { type Call, commandCall, scriptCall } from "../../kernel/call.ts";
import { onAll } from "../../kernel/on-all.ts";
import { recordName } from "../../kernel/options/validation.ts";
import { testNowOf } from "../../kernel/queue-ref.ts";
import type { Shard } from "../../kernel/shard.ts";
import { operatedStore } from "../../open/operated-store.ts";
import { opened } from "../../open/options.ts";
import { forgetLimitsScript } from "./script.ts";
import { messages } from "../message.ts";
import { type Stored, timeOf } from "../session.ts";

const DAY = 86_400_000;

/** How long limits are needed after a message is due, ms: a dead letter may be retried for 7 days. */
const NEEDED_FOR = 8 * DAY;

/** How long limits are kept, ms: for longer than they are needed, so that few calls note it. */
const KEPT_FOR = NEEDED_FOR + DAY;

/** Most keys that one call of the script looks at, and most such calls in a row. */
const MOST = 100;
const MOST_CALLS = 10;

/** When a message is due: now, unless it has one of these. */
export interface Due {
  /** ms from now. */
  readonly delay?: number | undefined;
  /** Epoch ms. */
  readonly at?: number | undefined;
}

const timeOfDue = (stored: Stored, { delay = 0, at = 0 }: Due) => Math.max(timeOf(stored) + delay, at);

/** Until when a message needs the limits of its key, epoch ms. */
export const neededUntil = (stored: Stored, due: Due): number => timeOfDue(stored, due) + NEEDED_FOR;

/** Until when limits that it sets are kept, epoch ms. */
export const keptUntil = (stored: Stored, due: Due): number => timeOfDue(stored, due) + KEPT_FOR;

/** Keeps the limits of keys for messages, before they are set. One request. */
export async function keepFor(
  stored: Stored,
  given: readonly { readonly key: string; readonly due: Due }[],
): Promise<void> {
  const items = given.flatMap(({ key, due }) => [String(keptUntil(stored, due)), recordName(key, "group")]);
  await onShards(stored, (needed) => ["ZADD", needed, "GT", ...items]);
}

/** Keeps the limits of a key until {@link keepNoLonger}. One request. */
export async function keep(stored: Stored, key: string): Promise<void> {
  await onShards(stored, (needed) => ["ZADD", needed, "+inf", recordName(key, "group")]);
}

/** Keeps the limits of a key for as long as a message that is due now needs them. One request. */
export async function keepNoLonger(stored: Stored, key: string): Promise<void> {
  const until = String(keptUntil(stored, {}));
  await onShards(stored, (needed) => ["ZADD", needed, until, recordName(key, "group")]);
}

/** Removes limits that are needed no longer: one request if there are none. */
export async function forgetLimits(stored: Stored, signal: AbortSignal | undefined): Promise<void> {
  const store = storeOf(stored);
  const args = { testNow: testNowOf(store.queue), most: String(MOST) };
  const callOf = (shard: Shard) =>
    scriptCall(forgetLimitsScript, { ...shard.keys, needed: keyOf(shard) }, args);
  for (let calls = 0; calls < MOST_CALLS; calls++) {
    const looked = await onAll(store, callOf, { signal });
    if ([...looked.values()].every((count) => count < MOST)) return;
  }
}

async function onShards(
  stored: Stored,
  commandOf: (needed: string) => readonly [string, ...string[]],
): Promise<void> {
  const callOf = (shard: Shard): Call<void> => commandCall(commandOf(keyOf(shard)), () => {});
  await onAll(storeOf(stored), callOf, {});
}

function storeOf({ open }: Stored) {
  const { definition, options } = open(messages);
  return operatedStore(opened(definition, options));
}

const keyOf = ({ keys }: Shard): string => keys.tasks.replace(/tasks$/, "flow-control-needed");
