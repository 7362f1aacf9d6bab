import { nameOfShard, queueKeys } from "../../kernel/names/keys.ts";
import { newToken } from "../../kernel/names/ids.ts";
import { SHARED_LETTERS } from "../../kernel/record/settings-record.ts";
import { callOf } from "../../kernel/scripts/binding.ts";
import { configureScript } from "../../kernel/scripts/settings-scripts.ts";
import { replyAt } from "../../kernel/scripts/replies.ts";
import type { Command } from "../../kernel/transport.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";
import { rebalanceShares, type RebalanceOptions } from "./shares.ts";

/** Letters that a copy leaves out: limits, which the shares set, and what each partition numbers itself. */
const OWN_LETTERS: readonly string[] = [...SHARED_LETTERS, "M", "R", "B", "v", "n"];

/** How many settings one request writes. */
const SETTINGS_PER_REQUEST = 100;

/** How many fields one HSCAN passes over: few are settings, so the replies are short. */
const FIELDS_PER_SCAN = "10000";

/** How often settings are copied again, because they have changed meanwhile. */
const MAX_COPIES = 10;

/** By group, the settings that a partition has, by letter. Those of the queue are under "". */
type StoredSettings = ReadonlyMap<string, ReadonlyMap<string, string>>;

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
  options: Pick<RebalanceOptions, "testNow"> = {},
): Promise<void> {
  let settings = await storedSettings(queue, 0);
  for (let copies = 0; copies < MAX_COPIES; copies++) {
    for (const partition of added) await replaceSettings(queue, partition, settings, options);
    const copied = settings;
    settings = await storedSettings(queue, 0);
    if (textOf(copied) === textOf(settings)) break;
  }
  await rebalanceShares(queue, partitions, options);
}

/** Writes settings that differ from those of a partition, and unsets those that only the partition has. */
async function replaceSettings(
  queue: PartitionedQueue,
  partition: number,
  settings: StoredSettings,
  { testNow = "" }: Pick<RebalanceOptions, "testNow">,
): Promise<void> {
  const { name, prefix, transport, signal } = queue;
  const keys = queueKeys(nameOfShard(name, partition), prefix);
  const had = await storedSettings(queue, partition);
  const calls = [...new Set([...settings.keys(), ...had.keys()])].flatMap((group) => {
    const before = had.get(group) ?? NONE;
    const after = settings.get(group) ?? NONE;
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (letter) => before.get(letter) !== after.get(letter),
    );
    const items = changed.map((letter) => ({ letter, value: after.get(letter) ?? "" }));
    const args = { testNow, token: newToken(), group, wake: "" };
    return items.length > 0 ? [callOf(configureScript, keys, args, items)] : [];
  });
  for (let from = 0; from < calls.length; from += SETTINGS_PER_REQUEST) {
    const slice = calls.slice(from, from + SETTINGS_PER_REQUEST);
    const outcomes = await transport.send(slice, { signal });
    for (const [i] of slice.entries()) configureScript.decode(replyAt(outcomes, i));
  }
}

const NONE: ReadonlyMap<string, string> = new Map();

const textOf = (settings: StoredSettings) =>
  JSON.stringify(Array.from(settings, ([group, letters]) => [group, ...letters]));

/** Reads the settings that partitions have in common, as one partition has them. */
async function storedSettings(
  { name, prefix, transport, signal }: PartitionedQueue,
  partition: number,
): Promise<StoredSettings> {
  const { tasks } = queueKeys(nameOfShard(name, partition), prefix);
  const settings = new Map<string, ReadonlyMap<string, string>>();
  const first: Command = ["HMGET", tasks, "~set", "~groups"];
  const [set, groups] = replyAt(await transport.send([first], { signal }), 0) as (string | null)[];
  if (typeof set === "string") settings.set("", commonSettings(set, OWN_LETTERS));
  // Without that field no group has settings, and the records need not be gone through.
  for (let cursor = typeof groups === "string" ? "0" : undefined; cursor !== undefined;) {
    const command: Command = ["HSCAN", tasks, cursor, "MATCH", "~s:*", "COUNT", FIELDS_PER_SCAN];
    const [next, found] = replyAt(await transport.send([command], { signal }), 0) as [string, string[]];
    for (let i = 0; i < found.length; i += 2) {
      settings.set((found[i] ?? "").slice(3), commonSettings(found[i + 1] ?? "", ["n"]));
    }
    cursor = next === "0" ? undefined : next;
  }
  return settings;
}

/** Reads a record of settings, without letters that each partition has for itself. */
function commonSettings(record: string, own: readonly string[]): ReadonlyMap<string, string> {
  const fields = record.split(";").slice(1);
  const letters = fields.map((field) => field.split("=") as [string, string]);
  return new Map(letters.filter(([letter]) => !own.includes(letter)));
}
