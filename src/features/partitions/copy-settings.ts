import { newerSchema } from "../../errors.ts";
import { commandCall, run, runAll } from "../../kernel/call.ts";
import { newToken } from "../../kernel/names/ids.ts";
import { SHARED_LETTERS } from "../../kernel/record/settings-record.ts";
import { configureScript } from "../../kernel/scripts/settings-scripts.ts";
import type { Shard } from "../../kernel/shard.ts";
import { slicesOf } from "../../kernel/slices.ts";
import { type PartitionMap, partitionsOf } from "./map.ts";
import { partitionOf, type PartitionedQueue } from "./partitioned-queue.ts";
import { rebalanceShares } from "./shares.ts";

/** Letters that a copy leaves out: limits, which the shares set, and what each partition numbers itself. */
const OWN_LETTERS: readonly string[] = [...SHARED_LETTERS, "M", "R", "B", "v", "n"];

/** How many settings one request writes. */
const SETTINGS_PER_REQUEST = 100;

/** How many fields one HSCAN passes over: few are settings, so the replies are short. */
const FIELDS_PER_SCAN = "10000";

/** How many times settings are copied again because they have changed meanwhile. */
const MAX_COPIES = 10;

type Letters = ReadonlyMap<string, string>;

/** By group, the settings that a partition has, by letter. Those of the queue are under "". */
type StoredSettings = ReadonlyMap<string, Letters>;

/**
 * Gives new partitions the settings of the queue and of its groups, and shares of its limits. To be called before they
 * own slots: a partition without shares would not keep to the limits. A partition that the queue had before loses
 * the settings that it had then.
 * @param partitions all partitions, the new ones included
 * @param added the new ones
 */
export async function copySettings(
  queue: PartitionedQueue,
  partitions: readonly number[],
  added: readonly number[],
): Promise<void> {
  const stored = () => storedSettings(queue, partitionOf(queue, 0));
  let settings = await stored();
  // Groups may be in strict order, which only the linked edition keeps while slots change hands.
  if (settings.get("")?.has("o") && !queue.transport.passTurns) throw newerSchema("the settings of a queue");
  for (let copies = 0; copies < MAX_COPIES; copies++) {
    for (const partition of added) await replaceSettings(queue, partitionOf(queue, partition), settings);
    const copied = settings;
    settings = await stored();
    if (textOf(copied) === textOf(settings)) break;
  }
  await rebalanceShares(queue, partitions);
}

/**
 * Prepares a change of the owners of slots: gives new partitions the settings of the queue.
 * @returns whether the slots may change hands. They wait while a group in strict order waits for a partition that does
 *   not own its slot
 */
export async function prepareChange(
  queue: PartitionedQueue,
  map: PartitionMap,
  added: readonly number[],
): Promise<boolean> {
  if (added.length > 0) await copySettings(queue, partitionsOf(map), added);
  return !(await queue.transport.passTurns?.(queue, map));
}

/** Writes settings that differ from those of a partition, and unsets those that only the partition has. */
async function replaceSettings(
  queue: PartitionedQueue,
  shard: Shard,
  settings: StoredSettings,
): Promise<void> {
  const had = await storedSettings(queue, shard);
  const calls = [...new Set([...settings.keys(), ...had.keys()])].flatMap((group) => {
    const [before, after] = [had.get(group) ?? NONE, settings.get(group) ?? NONE];
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (letter) => before.get(letter) !== after.get(letter),
    );
    const items = changed.map((letter) => ({ letter, value: after.get(letter) ?? "" }));
    const args = { token: newToken(), group, wake: "" };
    return items.length > 0 ? [shard.call(configureScript, args, items)] : [];
  });
  for (const slice of slicesOf(calls, SETTINGS_PER_REQUEST)) await runAll(queue.transport, slice, queue);
}

const NONE: Letters = new Map();

const textOf = (settings: StoredSettings) =>
  JSON.stringify(Array.from(settings, ([group, letters]) => [group, ...letters]));

/** Reads the settings that partitions have in common, as one partition has them. */
async function storedSettings(queue: PartitionedQueue, { keys: { tasks } }: Shard): Promise<StoredSettings> {
  const settings = new Map<string, Letters>();
  const first = commandCall(["HMGET", tasks, "~set", "~groups"], (reply) => reply as (string | null)[]);
  const [set, groups] = await run(queue.transport, first, queue);
  if (typeof set === "string") settings.set("", commonSettings(set, OWN_LETTERS));
  // Without that field no group has settings, and the records need not be gone through.
  for (let cursor = typeof groups === "string" ? "0" : undefined; cursor !== undefined;) {
    const scan = commandCall(
      ["HSCAN", tasks, cursor, "MATCH", "~s:*", "COUNT", FIELDS_PER_SCAN],
      (reply) => reply as [next: string, found: string[]],
    );
    const [next, found] = await run(queue.transport, scan, queue);
    for (const [field = "", record = ""] of slicesOf(found, 2))
      settings.set(field.slice(3), commonSettings(record, ["n"]));
    cursor = next === "0" ? undefined : next;
  }
  return settings;
}

/** Reads a record of settings, without letters that each partition has for itself. */
function commonSettings(record: string, own: readonly string[]): Letters {
  const fields = record.split(";").slice(1);
  const letters = fields.map((field) => field.split("=") as [string, string]);
  return new Map(letters.filter(([letter]) => !own.includes(letter)));
}
