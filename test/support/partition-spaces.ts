/** Raw reads of a queue with partitions. */
import { nameOfPartition } from "../../src/queue/core/keys.ts";
import { queueSpace, type KeySpace, type QueueSpace } from "./key-space.ts";

/** The partitions that have keys, each with its part of the key space. */
export function partitionSpaces(space: KeySpace, queue: string): Map<number, QueueSpace> {
  const found = new Map([[0, queueSpace(space, queue)]]);
  for (let partition = 1; partition < 62; partition++) {
    const name = nameOfPartition(queue, partition);
    if (Object.keys(space).some((key) => key.includes(`{${name}}`))) {
      found.set(partition, queueSpace(space, name));
    }
  }
  return found;
}

/** Partitions with waiting or working tasks that the registry does not have; of a queue with partitions. */
export function unregistered(space: KeySpace, queue: string): string[] {
  if (partitionSpaces(space, queue).size === 1) return [];
  const registry = space["sluice:queues"];
  const names = new Set(registry && "zset" in registry ? registry.zset.map(([name]) => name) : []);
  const spaces = [...partitionSpaces(space, queue)].filter(
    ([, { pending, fair, limited, working, delayed }]) => {
      return pending.length + fair.size + limited.size + working.size + delayed.size > 0;
    },
  );
  const missing = spaces.map(([partition]) => nameOfPartition(queue, partition));
  return missing.filter((name) => !names.has(name)).map((name) => `the registry lacks ${name}`);
}
