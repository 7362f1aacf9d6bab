/** What a function instance remembers of the maps of queues. */
import { mapsKey } from "../../kernel/names/keys.ts";
import { InstanceMemory } from "../../kernel/instance-memory.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import type { PartitionMap } from "./map.ts";

/** How long an instance uses a map before it reads it again, ms. */
export const MAP_AGE = 60_000;

/** Maps, and when this instance read them, by its own clock. */
const known = new InstanceMemory<{ readonly map: PartitionMap; readonly at: number }>();

const placeOf = ({ name, prefix }: QueueRef) => `${mapsKey(prefix)} ${name}`;

/** The last map of a queue that this instance has read. */
export function lastMap(queue: QueueRef): PartitionMap | undefined {
  return known.get(queue.transport, placeOf(queue))?.map;
}

/** The map of a queue, if this instance has read it within a minute. */
export function knownMap(queue: QueueRef): PartitionMap | undefined {
  const found = known.get(queue.transport, placeOf(queue));
  const age = found ? Date.now() - found.at : -1;
  return found && age >= 0 && age < MAP_AGE ? found.map : undefined;
}

/** Whether this instance has ever read that a queue has partitions. */
export function isKnownSplit(queue: QueueRef): boolean {
  return (lastMap(queue)?.version ?? 0) > 0;
}

export function rememberMap(queue: QueueRef, map: PartitionMap): PartitionMap {
  known.set(queue.transport, placeOf(queue), { map, at: Date.now() });
  return map;
}

/** Makes this instance read the map again, because it has changed. */
export function forgetMap(queue: QueueRef): void {
  const map = lastMap(queue);
  if (map) known.set(queue.transport, placeOf(queue), { map, at: Number.NEGATIVE_INFINITY });
}
