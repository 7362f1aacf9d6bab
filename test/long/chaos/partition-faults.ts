import { mapsKey } from "../../../src/kernel/names/keys.ts";
import { readMap } from "../../../src/features/partitions/map.ts";
import type { KeySpace } from "../../support/key-space.ts";
import { ownedSlots, partitionSpaces, unregistered } from "../../support/partition-spaces.ts";

/** What is wrong between the partitions of a queue, by the raw keys at a moment without writes. */
export function partitionFaults(space: KeySpace, queue: string): string[] {
  const spaces = partitionSpaces(space, queue);
  const maps = space[mapsKey()];
  const map = readMap((maps && "hash" in maps ? maps.hash[queue] : undefined) ?? null);
  const found = unregistered(space, queue);
  const owners = new Map<number, number>();
  const holders = new Map<string, number>();
  for (const [partition, own] of spaces) {
    const { version, slots } = ownedSlots(own.tasks.get("~slots"));
    if (version > map.version)
      found.push(`partition ${partition} notes version ${version} of a map of version ${map.version}`);
    for (const slot of slots) {
      const other = owners.get(slot);
      if (other !== undefined) found.push(`slot ${slot} is owned by partitions ${other} and ${partition}`);
      owners.set(slot, partition);
    }
    for (const [id, payload] of own.tasks) {
      if (/^[~.]/.test(id) || payload === "") continue;
      const other = holders.get(id);
      if (other !== undefined) found.push(`I1 ${id} is in partitions ${other} and ${partition}`);
      holders.set(id, partition);
    }
  }
  const plain = Object.keys(space).filter((key) => key.startsWith(`sluice:{${queue}}:`));
  const kept = plain.filter((key) => !("string" in (space[key] ?? {})));
  if (map.version > 0 && kept.length > 0) found.push(`beside the partitions there is ${kept.join()}`);
  return found;
}
