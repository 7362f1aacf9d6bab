/** Raw reads of a queue with partitions. */
import { nameOfShard } from "../../src/kernel/names/keys.ts";
import { queueSpace, tagged, type KeySpace, type QueueSpace } from "./key-space.ts";

/** The partitions that have keys, each with its part of the key space. A queue without partitions is partition 0. */
export function partitionSpaces(space: KeySpace, queue: string): Map<number, QueueSpace> {
  const isSplit = "string" in (space[`sluice:{${queue}}:tasks`] ?? {});
  if (!isSplit) return new Map([[0, queueSpace(space, queue)]]);
  const names = Array.from({ length: 62 }, (_, partition) => nameOfShard(queue, partition));
  const has = (name: string) => Object.keys(space).some((key) => key.startsWith(`sluice:${tagged(name)}:`));
  return new Map(names.flatMap((name, i) => (i === 0 || has(name) ? [[i, queueSpace(space, name)]] : [])));
}

/** Partitions with waiting or working tasks that the registry does not have; of a queue with partitions. */
export function unregistered(space: KeySpace, queue: string): string[] {
  if (partitionSpaces(space, queue).size === 1) return [];
  const registry = space["sluice:queues"];
  const names = new Set(registry && "zset" in registry ? registry.zset.map(([name]) => name) : []);
  const spaces = [...partitionSpaces(space, queue)].filter(
    ([, { pending, fair, limited, working, delayed }]) => {
      // Timers of workers are no tasks.
      const waiting = [...delayed.keys()].filter((member) => !member.startsWith("~"));
      return pending.length + fair.size + limited.size + working.size + waiting.length > 0;
    },
  );
  const missing = spaces.map(([partition]) => nameOfShard(queue, partition));
  return missing.filter((name) => !names.has(name)).map((name) => `the registry lacks ${name}`);
}

/** What a partition notes of its slots, in its field `~slots`. */
export function ownedSlots(note: string | null | undefined): { version: number; slots: number[] } {
  const [, version = 0, digits = ""] = /^1;(\d+);([0-9a-f]{64})$/.exec(note ?? "") ?? [];
  const slots = Array.from(digits).flatMap((digit, i) =>
    [0, 1, 2, 3].filter((bit) => (Number.parseInt(digit, 16) >> bit) % 2 === 1).map((bit) => 4 * i + bit),
  );
  return { version: Number(version), slots };
}
