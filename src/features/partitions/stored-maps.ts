/** The partitions of queues of which only the names are known. */
import { SluiceError } from "../../errors.ts";
import { mapsKey, nameOfShard, registryKey } from "../../kernel/names/keys.ts";
import type { PlacesOf } from "../../kernel/shard.ts";
import { replyAt } from "../../kernel/scripts/replies.ts";
import type { Command, CommandOutcome, SendOptions, Transport } from "../../kernel/transport.ts";
import { isKnownSplit, knownMap, lastMap, placeOfMap, rememberMap } from "./map-memory.ts";
import { type PartitionMap, partitionsOf, readMap } from "./map.ts";
import { readMarker } from "./marker.ts";
import { isWrongType } from "../../kernel/scripts/wrong-type.ts";
import { resizeQueue } from "./resize.ts";

/** The names of all partitions that may have tasks of a queue; its own name if it has none. */
export function partitionNames(queue: string, map: PartitionMap): string[] {
  // Without a search for queues that were never partitioned: most calls are about these.
  return map.version === 0 ? [queue] : partitionsOf(map).map((partition) => nameOfShard(queue, partition));
}

/** The names of the partitions of each queue, or why its map cannot be read. */
type FoundPartitions = Map<string, readonly string[] | SluiceError>;

/** The command that reads the maps of queues, and what it has found. */
function mapsRead(transport: Transport, queues: readonly string[], prefix: string | undefined) {
  const command: Command | undefined = queues.length > 0 ? ["HMGET", mapsKey(prefix), ...queues] : undefined;
  const read = (outcome: CommandOutcome | undefined): FoundPartitions => {
    const found: FoundPartitions = new Map();
    if (!outcome) return found;
    const texts = replyAt([outcome], 0) as readonly (string | null)[];
    for (const [i, queue] of queues.entries()) {
      try {
        const map = rememberMap(transport, placeOfMap(queue, prefix), readMap(texts[i] ?? null));
        found.set(queue, partitionNames(queue, map));
      } catch (error) {
        if (!(error instanceof SluiceError)) throw error;
        found.set(queue, error);
      }
    }
    return found;
  };
  return { command, read };
}

/** Reads the names of the partitions of queues; of a queue whose map cannot be read, its own. One command. */
export async function findPartitions(
  transport: Transport,
  queues: readonly string[],
  prefix: string | undefined,
  options: SendOptions,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { command, read } = mapsRead(transport, queues, prefix);
  const found = read(command && (await transport.send([command], options))[0]);
  return new Map(
    Array.from(found, ([queue, names]) => [queue, names instanceof SluiceError ? [queue] : names]),
  );
}

/** The places of the maps of queues, and as many as the registry has noted. */
export const placesOf: PlacesOf = async (queues, { transport, prefix, signal }) => {
  const counts = ["ZMSCORE", registryKey(prefix), ...queues.map((queue) => `/${queue}`)] as const;
  const outcomes = await transport.send([["HMGET", mapsKey(prefix), ...queues], counts], { signal });
  const [maps = [], noted = []] = [0, 1].map((i) => replyAt(outcomes, i) as readonly (string | null)[]);
  const found = new Map<string, readonly number[]>();
  for (const [i, queue] of queues.entries()) {
    try {
      const map = readMap(maps[i] ?? null);
      const places = Array.from({ length: Number(noted[i] ?? 0) }, (_, place) => place);
      found.set(queue, map.version === 0 ? places : [0, ...places, ...partitionsOf(map)]);
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
    }
  }
  return found;
};

/** Errors of one queue, which do not concern the others of a call. */
const OF_ONE_QUEUE: ReadonlySet<string> = new Set(["newer_schema", "unexpected_reply"]);

/**
 * Reads the names of the partitions of queues whose own keys hold values of another type. If these are markers, and the
 * caller that put them has not written the first map yet, this does.
 */
async function findMarked(
  transport: Transport,
  queues: readonly string[],
  prefix: string | undefined,
  { signal }: SendOptions,
): Promise<FoundPartitions> {
  const { command, read } = mapsRead(transport, queues, prefix);
  const found = read(command && (await transport.send([command], { signal }))[0]);
  for (const [name, names] of found) {
    const place = placeOfMap(name, prefix);
    if (names instanceof SluiceError || isKnownSplit(transport, place)) continue;
    try {
      const queue = { name, prefix, transport, signal };
      const marked = await readMarker(queue);
      if (!marked) continue;
      const map = marked.map.version > 0 ? marked.map : await resizeQueue(queue, marked.count, marked.map);
      found.set(name, partitionNames(name, rememberMap(transport, place, map)));
    } catch (error) {
      if (!(error instanceof SluiceError) || !OF_ONE_QUEUE.has(error.code)) throw error;
      found.set(name, error);
    }
  }
  return found;
}

/** The outcomes of one partition's commands. */
export interface PartitionOutcomes {
  /** Such as `emails/3`; the queue's own name if it has no partitions. */
  readonly name: string;
  readonly outcomes: readonly CommandOutcome[];
}

/**
 * Sends calls to partition 0 of queues, or to the queues themselves if they have none. One request, and two more if
 * one of them turns out to have partitions.
 * @param callsOf the commands for partition 0, or for a queue without partitions. The first must fail on a key of
 *   another type
 */
export async function sendToFirst(
  transport: Transport,
  queues: readonly string[],
  prefix: string | undefined,
  callsOf: (name: string) => readonly Command[],
  options: SendOptions,
): Promise<ReadonlyMap<string, readonly CommandOutcome[]>> {
  const found = new Map<string, readonly CommandOutcome[]>();
  const send = async (some: readonly string[]) => {
    const calls = some.map((queue) => {
      const isSplit = isKnownSplit(transport, placeOfMap(queue, prefix));
      return callsOf(isSplit ? nameOfShard(queue, 0) : queue);
    });
    const outcomes = calls.length > 0 ? await transport.send(calls.flat(), options) : [];
    let from = 0;
    for (const [i, queue] of some.entries()) {
      found.set(queue, outcomes.slice(from, (from += calls[i]?.length ?? 0)));
    }
  };
  await send(queues);
  const marked = queues.filter((queue) => found.get(queue)?.some(hasWrongType));
  if (marked.length > 0) await findMarked(transport, marked, prefix, options);
  await send(marked.filter((queue) => isKnownSplit(transport, placeOfMap(queue, prefix))));
  return found;
}

/**
 * Sends calls to all partitions of queues of which only the names are known. The first request has those of the
 * partitions that are known, and of all other queues their own; it also reads whether the known partitions are still
 * all. If a queue turns out to have others, a second request reads the maps, and a last one has their calls.
 * @param callsOf the commands for one partition, or for a queue without partitions. At least one of them must fail on
 *   a key of another type, unless `readsMaps`
 * @param readsMaps whether the first request reads the maps that this instance has not read within a minute. @default
 *   only those of queues that are known to have partitions
 * @returns for each queue the outcomes of its partitions, in order
 */
export async function sendToStored(
  transport: Transport,
  names: readonly string[],
  prefix: string | undefined,
  callsOf: (name: string) => readonly Command[],
  options: SendOptions,
  readsMaps = false,
): Promise<Map<string, readonly PartitionOutcomes[]>> {
  const queues = [...new Set(names)];
  const sent = new Map<string, readonly CommandOutcome[]>();
  const send = async (places: readonly string[], last?: Command) => {
    const calls = places.map(callsOf);
    const commands = [...calls.flat(), ...(last ? [last] : [])];
    const outcomes = commands.length > 0 ? await transport.send(commands, options) : [];
    let from = 0;
    for (const [i, name] of places.entries()) {
      sent.set(name, outcomes.slice(from, (from += calls[i]?.length ?? 0)));
    }
    return last && outcomes.at(-1);
  };
  const place = (queue: string) => placeOfMap(queue, prefix);
  const known = new Map<string, readonly string[]>(
    queues.map((queue) => {
      const map = lastMap(transport, place(queue));
      return [queue, map ? partitionNames(queue, map) : [queue]];
    }),
  );
  const asked = queues.filter((queue) => {
    return isKnownSplit(transport, place(queue)) || (readsMaps && !knownMap(transport, place(queue)));
  });
  const first = mapsRead(transport, asked, prefix);
  const found = first.read(await send([...known.values()].flat(), first.command));
  const marked = queues.filter((queue) => !found.has(queue) && sent.get(queue)?.some(hasWrongType));
  for (const [queue, all] of await findMarked(transport, marked, prefix, options)) found.set(queue, all);
  const all = (queue: string) => found.get(queue) ?? known.get(queue) ?? [];
  const rest = queues.flatMap((queue) => {
    const wanted = all(queue);
    return wanted instanceof SluiceError ? [] : wanted.filter((name) => !sent.has(name));
  });
  if (rest.length > 0) await send(rest);
  return new Map(
    queues.map((queue) => {
      const wanted = all(queue);
      if (wanted instanceof SluiceError) {
        return [queue, [{ name: queue, outcomes: callsOf(queue).map(() => ({ error: wanted })) }]];
      }
      return [queue, wanted.map((name) => ({ name, outcomes: sent.get(name) ?? [] }))];
    }),
  );
}

const hasWrongType = (outcome: CommandOutcome) => "error" in outcome && isWrongType(outcome.error);
