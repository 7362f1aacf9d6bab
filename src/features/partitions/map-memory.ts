/** What a function instance remembers of the maps of queues. */
import { mapsKey } from "../../kernel/names/keys.ts";
import { InstanceMemory } from "../../kernel/instance-memory.ts";
import type { Transport } from "../../kernel/transport.ts";
import type { PartitionMap } from "./map.ts";

/** How long an instance uses a map before it reads it again, ms. */
export const MAP_AGE = 60_000;

/** A map, and when this instance read it, by its own clock. */
interface KnownMap {
  readonly map: PartitionMap;
  readonly at: number;
}

const known = new InstanceMemory<KnownMap>();

/** The place of a queue's map in the memory. */
export function placeOfMap(queue: string, prefix: string | undefined): string {
  return `${mapsKey(prefix)} ${queue}`;
}

/** The map of a queue, if this instance has read it within a minute. */
export function knownMap(transport: Transport, place: string): PartitionMap | undefined {
  const found = known.get(transport, place);
  const age = found ? Date.now() - found.at : -1;
  return found && age >= 0 && age < MAP_AGE ? found.map : undefined;
}

/** Whether this instance has ever read that a queue has partitions. */
export function isKnownSplit(transport: Transport, place: string): boolean {
  return (lastMap(transport, place)?.version ?? 0) > 0;
}

/** The last map that this instance has read. */
export function lastMap(transport: Transport, place: string): PartitionMap | undefined {
  return known.get(transport, place)?.map;
}

export function rememberMap(transport: Transport, place: string, map: PartitionMap): PartitionMap {
  known.set(transport, place, { map, at: Date.now() });
  return map;
}

/** Makes this instance read the map again, because it has changed. */
export function forgetMap(transport: Transport, place: string): void {
  const found = known.get(transport, place);
  if (found) known.set(transport, place, { ...found, at: Number.NEGATIVE_INFINITY });
}
