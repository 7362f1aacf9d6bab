/** Changes how many partitions a queue has, while it is in use. */
import { wholeNumber } from "../core/validation.ts";
import { mapsKey, nameOfPartition, queueKeys } from "../core/keys.ts";
import { MAX_PARTITIONS } from "../core/partition-slots.ts";
import { callOf } from "../redis/binding.ts";
import { ownSlotsScript, putMapScript } from "../redis/partition-scripts.ts";
import { replyAt } from "../redis/replies.ts";
import type { Transport } from "../redis/transport.ts";
import { ownedText, owning, type PartitionMap, partitionsOf, readMap, spread, writeMap } from "./map.ts";

/** Where a queue is. */
export interface PartitionedQueue {
  readonly name: string;
  readonly prefix: string | undefined;
  readonly transport: Transport;
  readonly signal?: AbortSignal | undefined;
}

/** How often a resize begins again, because another one has changed the map. */
const MAX_ROUNDS = 10;

/** @throws {SluiceError} `invalid_argument` */
export function partitionCount(value: unknown, path = "partitions"): number {
  return wholeNumber(value, path, 1, MAX_PARTITIONS);
}

/** Reads the map of a queue. One request of one command. */
export async function fetchMap({ name, prefix, transport, signal }: PartitionedQueue): Promise<PartitionMap> {
  const outcomes = await transport.send([["HGET", mapsKey(prefix), name]], { signal });
  return readMap(replyAt(outcomes, 0) as string | null);
}

/**
 * Gives a queue another number of partitions. Several callers may do so at the same time, and one that stopped
 * is continued by the next: a slot is first sealed, in all partitions that lose it, and then given to its new
 * owner, so that at no time two partitions own it.
 *
 * Tasks do not move: a partition that loses slots keeps the tasks that it has, until they end.
 * @param count 1 to 62; undefined to complete a change that another caller has begun
 * @returns the map as it is then
 */
export async function resizeQueue(
  queue: PartitionedQueue,
  count: number | undefined,
  read?: PartitionMap,
): Promise<PartitionMap> {
  let map = read ?? (await fetchMap(queue));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (map.next) {
      map = await handOver(queue, map, map.next);
      continue;
    }
    const next = count === undefined ? map.owners : spread(map.owners, count);
    const same = next.every((owner, slot) => owner === map.owners[slot]);
    if (same && (map.version > 0 || count === undefined || count === 1)) return map;
    map = await putMap(queue, map, writeMap({ ...map, version: map.version + 1, next }));
  }
  return map;
}

/** Seals the slots that change hands, gives them to their new owners, and ends the change. */
async function handOver(
  queue: PartitionedQueue,
  map: PartitionMap,
  next: readonly number[],
): Promise<PartitionMap> {
  const { owners, version } = map;
  const kept = owners.map((owner, slot) => (owner === next[slot] ? owner : -1));
  const before = owning(map);
  const sealed = await setOwned(queue, version, kept, before);
  const after = partitionsOf({ ...map, owners: next, next: undefined, former: [] });
  const given = sealed && (await setOwned(queue, version, next, after));
  // A later change has begun: this one is over.
  if (!sealed || !given) return fetchMap(queue);
  const losing = before.filter((partition, i) => {
    return sealed[i]?.used && owners.some((owner, slot) => owner === partition && next[slot] !== partition);
  });
  const former = [...new Set([...map.former, ...losing])].toSorted((one, other) => one - other);
  return putMap(queue, map, writeMap({ version, owners: next, next: undefined, former }));
}

/** Notes in partitions which slots they own. Undefined if one has noted a later map. */
export async function setOwned(
  { name, prefix, transport, signal }: PartitionedQueue,
  version: number,
  owners: readonly number[],
  partitions: readonly number[],
): Promise<{ readonly used: boolean }[] | undefined> {
  const calls = partitions.map((partition) =>
    callOf(ownSlotsScript, queueKeys(nameOfPartition(name, partition), prefix), {
      version: String(version),
      owned: ownedText(owners, partition),
    }),
  );
  const outcomes = await transport.send(calls, { signal });
  const replies = calls.map((_, i) => ownSlotsScript.decode(replyAt(outcomes, i)));
  const noted: { readonly used: boolean }[] = [];
  for (const reply of replies) if (reply.used !== undefined) noted.push({ used: reply.used });
  return noted.length === replies.length ? noted : undefined;
}

/** Writes a map if it is still as it was read. Returns the map that is there then. */
async function putMap(
  { name, prefix, transport, signal }: PartitionedQueue,
  was: PartitionMap,
  map: PartitionMap,
): Promise<PartitionMap> {
  const keys = { maps: mapsKey(prefix) };
  const call = callOf(putMapScript, keys, { queue: name, was: was.text, map: map.text });
  return readMap(putMapScript.decode(replyAt(await transport.send([call], { signal }), 0)));
}
