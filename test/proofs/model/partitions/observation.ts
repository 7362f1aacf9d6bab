/** What the raw keys of a queue with partitions say, and what must hold of them at any time. */
import { type PartitionMap, partitionsOf, readMap } from "../../../../src/features/partitions/map.ts";
import { violations } from "../../../support/invariants.ts";
import type { Direct } from "../way.ts";
import { queueSpace, readKeySpace, zsetIn, type QueueSpace } from "../../../support/key-space.ts";
import { ownedSlots } from "../../../support/partition-spaces.ts";
import { realRecord } from "../places.ts";

/** How many partitions the runs use at most. */
export const MOST = 8;

export const partitionNames = Array.from({ length: MOST }, (_, i) => `emails/${i}`);

/** A known id as one partition has it. */
export interface KnownTask {
  readonly partition: number;
  readonly isDelayed: boolean;
  /** When it is due, its lease ends or its record goes away; 0: never. */
  readonly until: number;
  readonly record: ReturnType<typeof realRecord>;
}

export interface Observation {
  readonly map: PartitionMap;
  /** The scores of the registry. */
  readonly scores: ReadonlyMap<string, number>;
  readonly spaces: readonly QueueSpace[];
  /** For each known id, the partitions that know it. */
  readonly known: ReadonlyMap<string, readonly KnownTask[]>;
  /** The owner of each slot, as the partitions note it; undefined: none. */
  readonly owners: readonly (number | undefined)[];
}

export async function observe(direct: Direct): Promise<Observation> {
  const keys = await readKeySpace(direct);
  // Without partitions, the queue has the keys of its own name.
  const isSplit = "string" in (keys["sluice:{emails}:tasks"] ?? {});
  const names = isSplit ? partitionNames : ["emails", ...partitionNames.slice(1)];
  const spaces = names.map((name) => queueSpace(keys, name));
  const maps = keys["{sluice:queues}:maps"];
  const known = new Map<string, KnownTask[]>();
  for (const [partition, space] of spaces.entries()) {
    for (const id of space.tasks.keys()) {
      if (/^[.~]/.test(id)) continue;
      const found = readKnown(partition, space, id);
      if (found) known.set(id, [...(known.get(id) ?? []), found]);
    }
  }
  return {
    map: readMap(maps && "hash" in maps ? (maps.hash["emails"] ?? null) : null),
    scores: zsetIn(keys, "sluice:queues"),
    spaces,
    known,
    owners: ownersOf(spaces.map(({ tasks }) => tasks.get("~slots"))),
  };
}

function readKnown(partition: number, space: QueueSpace, id: string): KnownTask | undefined {
  const record = { ...realRecord(space, id), ghosts: 0 };
  if (record.state === "g") return undefined;
  const { delayed, working, expiry } = space;
  const until = Math.floor(delayed.get(id) ?? working.get(id) ?? expiry.get(id) ?? 0);
  return { partition, isDelayed: delayed.has(id), until, record };
}

/**
 * The owner of each slot.
 * @param notes the fields `~slots` of the partitions
 * @throws if a slot has two owners
 */
export function ownersOf(notes: readonly (string | null | undefined)[]): (number | undefined)[] {
  const owners: (number | undefined)[] = Array<undefined>(256).fill(undefined);
  for (const [partition, note] of notes.entries()) {
    for (const slot of ownedSlots(note).slots) {
      if (owners[slot] !== undefined) {
        throw new Error(`slot ${slot} has two owners: ${owners[slot]} and ${partition}`);
      }
      owners[slot] = partition;
    }
  }
  return owners;
}

/** What is wrong in the keys, without the model: empty if all holds. */
export function faultsOf(before: Observation, after: Observation): string[] {
  const found = after.spaces.flatMap((space, partition) =>
    violations(space).map((text) => `partition ${partition}: ${text}`),
  );
  for (const [id, places] of after.known) {
    if (places.length < 2) continue;
    found.push(`${id} is known in partitions ${places.map(({ partition }) => partition).join(" and ")}`);
  }
  const [was, is] = [before.map, after.map];
  if (is.version < was.version) found.push(`the map went back from version ${was.version} to ${is.version}`);
  if (is.version === was.version && String(is.owners) !== String(was.owners) && !was.next) {
    found.push(`the owners changed within version ${is.version}`);
  }
  if (is.version > 0 && !is.next) {
    for (const [slot, owner] of after.owners.entries()) {
      // A note that a slow caller has taken back is written again by the first producer that needs it.
      if (owner !== undefined && owner !== is.owners[slot]) {
        found.push(`partition ${owner} owns slot ${slot}, and ${is.owners[slot]} by the map`);
      }
    }
  }
  const most = after.scores.get("/emails") ?? 0;
  if (is.version > 0 && most <= Math.max(...partitionsOf(is)))
    found.push(`the registry counts ${most} partitions`);
  return found;
}
