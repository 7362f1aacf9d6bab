/** The partitions of queues of which only the names are known. */
import { SluiceError } from "../../errors.ts";
import { type Call, commandCall, exchange, type Replies, run } from "../../kernel/call.ts";
import { mapsKey, registryKey } from "../../kernel/names/keys.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import { isWrongType } from "../../kernel/scripts/wrong-type.ts";
import { type PlacesOf, Shard } from "../../kernel/shard.ts";
import type { CommandOutcome, SendOptions, Transport } from "../../kernel/transport.ts";
import type { DeepSweepPart } from "../../sweep/deep-part.ts";
import { isKnownSplit, knownMap, lastMap, rememberMap } from "./map-memory.ts";
import { type PartitionMap, partitionsOf, readMap } from "./map.ts";
import { partitionOf } from "./partitioned-queue.ts";
import { markedMap } from "./resize.ts";

/** Where queues are. */
type Where = Omit<QueueRef, "name">;

/** By queue, its map, or why it cannot be read. */
type FoundMaps = Map<string, PartitionMap | SluiceError>;

const textsOf = (reply: unknown) => reply as readonly (string | null)[];

const isSplit = (map: PartitionMap | SluiceError | undefined): map is PartitionMap =>
  map !== undefined && "version" in map && map.version > 0;

/** The shards of a queue that may have tasks: itself if it has no partitions. */
function shardsOf(queue: QueueRef, map: PartitionMap | SluiceError | undefined): Shard[] {
  // Without a search for queues that were never partitioned: most calls are about these.
  return isSplit(map)
    ? partitionsOf(map).map((partition) => partitionOf(queue, partition))
    : [new Shard(queue)];
}

/** Reads and remembers the maps of queues. */
function mapsCall(queues: readonly QueueRef[]): Call<FoundMaps> {
  const names = queues.map(({ name }) => name);
  return commandCall(["HMGET", mapsKey(queues[0]?.prefix), ...names], (reply) => {
    const texts = textsOf(reply);
    const readOne = (queue: QueueRef, i: number) => {
      try {
        return rememberMap(queue, readMap(texts[i] ?? null));
      } catch (error) {
        if (!(error instanceof SluiceError)) throw error;
        return error;
      }
    };
    return new Map(queues.map((queue, i) => [queue.name, readOne(queue, i)]));
  });
}

/** Reads the names of the shards of queues; of a queue whose map cannot be read, its own. One command. */
async function findPartitions(
  names: readonly string[],
  { transport, prefix, signal }: Where & SendOptions,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const queues = names.map((name) => ({ name, transport, prefix }));
  const found = await run(transport, mapsCall(queues), { signal });
  const namesOf = (queue: QueueRef) => shardsOf(queue, found.get(queue.name)).map(({ name }) => name);
  return new Map(queues.map((queue) => [queue.name, namesOf(queue)]));
}

/** The partitions of queues, each of which a deep sweep checks as a queue. */
export const partitionsRepair: DeepSweepPart = {
  namesOf: findPartitions,
  async namesOfMarked(queue, { signal }) {
    const map = await markedMap({ ...queue, signal }).catch((error: unknown) => {
      if (!(error instanceof SluiceError) || error.code !== "newer_schema") throw error;
      return undefined;
    });
    return map && shardsOf(queue, rememberMap(queue, map)).map(({ name }) => name);
  },
  async repair({ queue, isPart }, _checked, _findings, options) {
    const map = isPart ? lastMap(queue) : undefined;
    // Sweeps pass turns while there are former partitions. A group may also wait for one that is gone.
    if (map?.former.length === 0)
      await queue.transport.passTurns?.({ ...queue, ...options }, { ...map, former: map.owners });
  },
};

/** The places of the maps of queues, and as many as the registry has noted. */
export const placesOf: PlacesOf = async (names, { transport, prefix, signal }) => {
  const queues = names.map((name) => ({ name, transport, prefix }));
  const scores = ["ZMSCORE", registryKey(prefix), ...names.map((name) => `/${name}`)] as const;
  const calls = [mapsCall(queues), commandCall(scores, textsOf)] as const;
  const [maps, counts] = await exchange(transport, calls, { signal });
  return new Map(
    Array.from(maps()).flatMap(([name, map], i) => {
      if (map instanceof SluiceError) return [];
      const noted = Array.from({ length: Number(counts()[i] ?? 0) }, (_, place) => place);
      return [[name, map.version === 0 ? noted : [0, ...noted, ...partitionsOf(map)]]];
    }),
  );
};

/** Errors of one queue, which do not concern the others of a call. */
const OF_ONE_QUEUE: ReadonlySet<string> = new Set(["newer_schema", "unexpected_reply"]);

/**
 * Reads the maps of queues whose own keys hold values of another type. If these are markers, and the caller that put
 * them has not written the first map yet, this does.
 */
async function findMarked(
  queues: readonly QueueRef[],
  transport: Transport,
  { signal }: SendOptions,
): Promise<FoundMaps> {
  if (queues.length === 0) return new Map();
  const found = await run(transport, mapsCall(queues), { signal });
  for (const queue of queues) {
    if (found.get(queue.name) instanceof SluiceError) continue;
    const known = lastMap(queue);
    if (isSplit(known)) {
      // Another call may have read it meanwhile.
      found.set(queue.name, known);
      continue;
    }
    try {
      const map = await markedMap({ ...queue, signal });
      if (map) found.set(queue.name, rememberMap(queue, map));
    } catch (error) {
      if (!(error instanceof SluiceError) || !OF_ONE_QUEUE.has(error.code)) throw error;
      found.set(queue.name, error);
    }
  }
  return found;
}

/** What one shard of a queue has answered. */
export interface ShardReplies<Calls extends readonly Call<unknown>[]> {
  readonly shard: Shard;
  readonly replies: Replies<Calls>;
}

interface Sent<Calls> {
  readonly calls: Calls;
  readonly outcomes: readonly CommandOutcome[];
}

/** To which shards of queues calls are sent. */
interface NamedShards {
  /** Whether only to that of place 0. Then nothing else is asked, if no queue turns out to have partitions. */
  readonly first?: boolean | undefined;
  /**
   * Whether the first request reads the maps that this instance has not read within a minute.
   * @default only those of queues that are known to have partitions
   */
  readonly readsMaps?: boolean | undefined;
}

/**
 * Sends calls to all shards of queues of which only the names are known. The first request has those of the
 * partitions that are known, and of all other queues their own; it also reads whether the known partitions are still
 * all. If a queue turns out to have others, a second request reads the maps, and a last one has their calls.
 * @param callsOf the calls for one shard. At least one of them must fail on a key of another type, unless `readsMaps`
 * @returns for each queue the replies of its shards, in order
 */
export async function exchangeByName<const Calls extends readonly Call<unknown>[]>(
  where: Where,
  names: readonly string[],
  callsOf: (shard: Shard) => Calls,
  options: SendOptions,
  { first = false, readsMaps: readsUnknown = false }: NamedShards = {},
): Promise<Map<string, readonly ShardReplies<Calls>[]>> {
  const queues = [...new Set(names)].map((name) => ({ ...where, name }));
  const sent = new Map<string, Sent<Calls>>();
  const send = async (shards: readonly Shard[], last?: Call<FoundMaps>): Promise<FoundMaps> => {
    const calls = shards.map(callsOf);
    const commands = [...calls.flat(), ...(last ? [last] : [])].map(({ command }) => command);
    const outcomes = commands.length > 0 ? await where.transport.send(commands, options) : [];
    let from = 0;
    for (const [i, { name }] of shards.entries()) {
      const own = calls[i] as Calls;
      sent.set(name, { calls: own, outcomes: outcomes.slice(from, (from += own.length)) });
    }
    return last?.read(outcomes.at(-1)) ?? new Map();
  };
  const wanted = (queue: QueueRef, map: PartitionMap | SluiceError | undefined) =>
    first && isSplit(map) ? [partitionOf(queue, 0)] : shardsOf(queue, map);
  const known = new Map(queues.map((queue) => [queue.name, wanted(queue, lastMap(queue))]));
  const asked = queues.filter(
    (queue) => !first && (isKnownSplit(queue) || (readsUnknown && !knownMap(queue))),
  );
  const found = await send([...known.values()].flat(), asked.length > 0 ? mapsCall(asked) : undefined);
  const isMarked = ({ name }: QueueRef) =>
    !found.has(name) && known.get(name)?.some((shard) => sent.get(shard.name)?.outcomes.some(hasWrongType));
  for (const [name, map] of await findMarked(queues.filter(isMarked), where.transport, options))
    found.set(name, map);
  for (const queue of queues) {
    const error = found.get(queue.name);
    if (!(error instanceof SluiceError)) continue;
    const calls = callsOf(new Shard(queue));
    sent.set(queue.name, { calls, outcomes: calls.map(() => ({ error })) });
  }
  const shardsNow = (queue: QueueRef) =>
    found.has(queue.name) ? wanted(queue, found.get(queue.name)) : (known.get(queue.name) ?? []);
  await send(queues.flatMap(shardsNow).filter(({ name }) => !sent.has(name)));
  const repliesOf = (shard: Shard): ShardReplies<Calls> => {
    const { calls, outcomes } = sent.get(shard.name) as Sent<Calls>;
    return {
      shard,
      replies: calls.map((call, i) => () => call.read(outcomes[i])) as unknown as Replies<Calls>,
    };
  };
  return new Map(queues.map((queue) => [queue.name, shardsNow(queue).map(repliesOf)]));
}

const hasWrongType = (outcome: CommandOutcome) => "error" in outcome && isWrongType(outcome.error);
