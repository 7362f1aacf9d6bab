import { nameOfPartition, queueKeys } from "../core/keys.ts";
import { newToken } from "../core/ids.ts";
import { SHARED_LETTERS } from "../core/settings-record.ts";
import { callOf } from "../redis/binding.ts";
import { configureScript } from "../redis/operate-scripts.ts";
import { replyAt } from "../redis/replies.ts";
import type { Command } from "../redis/transport.ts";
import type { PartitionedQueue } from "./partitioned-queue.ts";
import { rebalanceShares, type RebalanceOptions } from "./shares.ts";

/** Letters that a copy leaves out: limits, which the shares set, and what each partition numbers itself. */
const OWN_LETTERS: readonly string[] = [...SHARED_LETTERS, "M", "R", "B", "v", "n"];

/** How many settings one request writes. */
const SETTINGS_PER_REQUEST = 100;

/** How many fields one HSCAN passes over: few are settings, so the replies are short. */
const FIELDS_PER_SCAN = "10000";

/**
 * Gives new partitions the settings of the queue and of its groups, and shares of its limits. To be called before they
 * own slots: a partition without shares would not keep to the limits.
 * @param partitions all partitions, the new ones included
 * @param added the new ones
 */
export async function copySettings(
  queue: PartitionedQueue,
  partitions: readonly number[],
  added: readonly number[],
  options: Pick<RebalanceOptions, "testNow"> = {},
): Promise<void> {
  const { name, prefix, transport, signal } = queue;
  const { tasks } = queueKeys(name, prefix);
  const settings = new Map<string, string>();
  const first: Command = ["HMGET", tasks, "~set", "~groups"];
  const [set, groups] = replyAt(await transport.send([first], { signal }), 0) as (string | null)[];
  if (typeof set === "string") settings.set("", set);
  // Without that field no group has settings, and the records need not be gone through.
  for (let cursor = typeof groups === "string" ? "0" : undefined; cursor !== undefined;) {
    const command: Command = ["HSCAN", tasks, cursor, "MATCH", "~s:*", "COUNT", FIELDS_PER_SCAN];
    const [next, found] = replyAt(await transport.send([command], { signal }), 0) as [string, string[]];
    for (let i = 0; i < found.length; i += 2) settings.set((found[i] ?? "").slice(3), found[i + 1] ?? "");
    cursor = next === "0" ? undefined : next;
  }
  const calls = added.flatMap((partition) =>
    Array.from(settings, ([group, record]) => {
      const letters = record
        .split(";")
        .slice(1)
        .map((field) => field.split("=") as [string, string]);
      const own = group === "" ? OWN_LETTERS : ["n"];
      const items = letters.filter(([letter]) => !own.includes(letter));
      const args = { testNow: options.testNow ?? "", token: newToken(), group, wake: "" };
      return callOf(
        configureScript,
        queueKeys(nameOfPartition(name, partition), prefix),
        args,
        items.map(([letter, value]) => ({ letter, value })),
      );
    }),
  );
  for (let from = 0; from < calls.length; from += SETTINGS_PER_REQUEST) {
    const slice = calls.slice(from, from + SETTINGS_PER_REQUEST);
    const outcomes = await transport.send(slice, { signal });
    for (const [i] of slice.entries()) configureScript.decode(replyAt(outcomes, i));
  }
  await rebalanceShares(queue, partitions, options);
}
