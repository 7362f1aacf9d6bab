/** The maps of queues of which only the names are known. */
import { mapsKey } from "../core/keys.ts";
import { QUEUE } from "../core/validation.ts";
import type { Command, CommandOutcome, SendOptions, Transport } from "../redis/transport.ts";
import { knownMap, placeOfMap, rememberMap } from "./map-memory.ts";
import { type PartitionMap, partitionsOf, readMap } from "./map.ts";

/**
 * Which partitions queues have, as this instance has read within a minute.
 * @returns the partitions of each queue that is known, and the command that reads the others; undefined if all are
 *   known. Call `read` with its outcome
 */
function storedPartitions(transport: Transport, names: readonly string[], prefix: string | undefined) {
  const key = mapsKey(prefix);
  const found = new Map<string, readonly number[]>();
  for (const name of names) {
    const map = knownMap(transport, placeOfMap(name, prefix));
    if (map) found.set(name, partitionsIn(map));
  }
  const unknown = names.filter((name) => !found.has(name));
  const command: Command | undefined = unknown.length > 0 ? ["HMGET", key, ...unknown] : undefined;
  const read = (outcome: CommandOutcome | undefined) => {
    if (!outcome || !("reply" in outcome)) return;
    const texts = outcome.reply as readonly (string | null)[];
    for (const [i, name] of unknown.entries()) {
      const map = readableMap(texts[i] ?? null);
      if (map) rememberMap(transport, placeOfMap(name, prefix), map);
      // Of a map that this release cannot read, partition 0 is shown.
      found.set(name, map ? partitionsIn(map) : [0]);
    }
  };
  return { found, command, read };
}

/** The partitions of queues, as this instance has read within a minute. At most one command. */
export async function findPartitions(
  transport: Transport,
  names: readonly string[],
  prefix: string | undefined,
  options: SendOptions,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const { found, command, read } = storedPartitions(transport, names, prefix);
  if (command) read((await transport.send([command], options))[0]);
  return found;
}

/** Whether a queue has partitions, as this instance has read within a minute. At most one command. */
export async function isPartitioned(
  name: string,
  transport: Transport,
  prefix: string | undefined,
): Promise<boolean> {
  // The queue refuses an invalid name.
  if (!QUEUE.test(name)) return false;
  const found = await findPartitions(transport, [name], prefix, {});
  return (found.get(name) ?? [0]).some((partition) => partition > 0);
}

/** Without a search for queues that were never partitioned: most calls are about these. */
const partitionsIn = (map: PartitionMap) => (map.text === "" ? [0] : partitionsOf(map));

function readableMap(text: string | null): PartitionMap | undefined {
  try {
    return readMap(text);
  } catch {
    return undefined;
  }
}

/** The outcomes of one partition's commands. */
export interface PartitionOutcomes {
  readonly partition: number;
  readonly outcomes: readonly CommandOutcome[];
}

/**
 * Sends calls to all partitions of queues of which only the names are known. The first request has those of the
 * partitions that are known, and of partition 0. If a queue turns out to have others, a second one reads the maps,
 * and a third one has their calls.
 * @param callsOf the commands for one partition
 * @param hasOthers whether the outcomes of partition 0 show that the queue has others. @default not known: the maps
 *   are read with the first request
 * @returns for each queue the outcomes of its partitions, in order
 */
export async function sendToStored(
  transport: Transport,
  names: readonly string[],
  prefix: string | undefined,
  callsOf: (queue: string, partition: number) => readonly Command[],
  options: SendOptions,
  hasOthers?: (outcomes: readonly CommandOutcome[]) => boolean,
): Promise<Map<string, readonly PartitionOutcomes[]>> {
  const queues = [...new Set(names)];
  const results = new Map<string, PartitionOutcomes[]>();
  const send = async (places: readonly { queue: string; partition: number }[], last?: Command) => {
    const calls = places.map(({ queue, partition }) => callsOf(queue, partition));
    const commands = [...calls.flat(), ...(last ? [last] : [])];
    const outcomes = commands.length > 0 ? await transport.send(commands, options) : [];
    let from = 0;
    for (const [i, { queue, partition }] of places.entries()) {
      const own = outcomes.slice(from, (from += calls[i]?.length ?? 0));
      results.set(queue, [...(results.get(queue) ?? []), { partition, outcomes: own }]);
    }
    return outcomes.at(-1);
  };
  const first = storedPartitions(transport, queues, prefix);
  const places = queues.flatMap((queue) =>
    (first.found.get(queue) ?? [0]).map((partition) => ({ queue, partition })),
  );
  const asked = hasOthers ? undefined : first.command;
  const outcome = await send(places, asked);
  if (asked) first.read(outcome);
  const unknown = queues.filter((queue) => {
    return !first.found.has(queue) && hasOthers?.(results.get(queue)?.[0]?.outcomes ?? []);
  });
  const second = storedPartitions(transport, unknown, prefix);
  if (second.command) second.read((await transport.send([second.command], options))[0]);
  const sent = new Set(places.map(({ queue, partition }) => `${queue}/${partition}`));
  const more = [...first.found, ...second.found].flatMap(([queue, partitions]) =>
    partitions.map((partition) => ({ queue, partition })),
  );
  const rest = more.filter(({ queue, partition }) => !sent.has(`${queue}/${partition}`));
  if (rest.length > 0) await send(rest);
  return results;
}
