import { readPartitionName } from "../core/keys.ts";

/** The queues of a page of the registry: those of its partitions, each once. */
export function withoutPartitions(
  registered: readonly { readonly name: string; readonly seenAt: number }[],
): { name: string; seenAt: number }[] {
  const queues = new Map<string, { name: string; seenAt: number }>();
  for (const { name: partition, seenAt } of registered) {
    const { queue: name } = readPartitionName(partition);
    const known = queues.get(name);
    queues.set(name, { name, seenAt: known ? Math.max(known.seenAt, seenAt) : seenAt });
  }
  return [...queues.values()];
}
