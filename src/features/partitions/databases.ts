import { groupedBy } from "../../kernel/slices.ts";
import { endable } from "../../endable.ts";
import { invalidArgument, SluiceError } from "../../errors.ts";
import {
  checkedTransport,
  type Command,
  type CommandOutcome,
  type SendOptions,
  type Transport,
} from "../../kernel/transport.ts";

/** For how long a database that could not be reached is not asked again, ms. */
const DOWN_FOR = 10_000;

/** The partition in the hash tag of a key, such as `sluice:{emails/3}:tasks`. */
const PARTITION = /\{[^{}]+\/(\d+)\}/;

/** A transport to several databases, over which the partitions of queues are spread. */
export interface DatabasesTransport extends Transport {
  /** How many databases there are. */
  readonly databases: number;
  /** Whether the database of a partition could not be reached a short time ago. */
  isDown(partition: number): boolean;
}

/**
 * Spreads the partitions of queues over several databases, such as several of Upstash: partition p is in database
 * p modulo their number. The first one also has the registry of queues, the maps of partitions, and all queues
 * that have no partitions. The order must stay the same, and databases must not be added or removed while the
 * queues hold tasks.
 *
 * If a database cannot be reached, only its partitions stop: for ten seconds its commands fail at once, new tasks
 * without id, group and dedup key go to other partitions, and consumers take from the others. Without the first
 * database all stop, each process when its map is a minute old.
 * @param transports at least two
 * @throws {SluiceError} `invalid_argument`
 * @example const transport = databases([upstash(one), upstash(two), upstash(three)]);
 */
export function databases(transports: readonly Transport[]): DatabasesTransport {
  if (!Array.isArray(transports) || transports.length < 2) {
    throw invalidArgument("transports", "must be a list of at least two transports");
  }
  const all = transports.map(checkedTransport);
  const names = all.map(({ database }) => database);
  const closings = all.flatMap(({ closing }) => closing ?? []);
  /** When each may be asked again, on the clock of `performance.now()`. */
  const downUntil = all.map(() => Number.NEGATIVE_INFINITY);
  const isUnreachable = (at: number) => performance.now() < (downUntil[at] as number);

  /** @returns the outcomes; or why the request as a whole failed */
  const sendTo = async (
    at: number,
    commands: readonly Command[],
    options: SendOptions,
  ): Promise<readonly CommandOutcome[] | SluiceError> => {
    if (isUnreachable(at)) return notReached(at);
    try {
      const outcomes = await (all[at] as Transport).send(commands, options);
      downUntil[at] = Number.NEGATIVE_INFINITY;
      return outcomes;
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code === "aborted") throw error;
      if (error.code === "redis_unreachable") downUntil[at] = performance.now() + DOWN_FOR;
      return error;
    }
  };

  return {
    database: names.every((name) => name !== undefined) ? names.join(" ") : undefined,
    prefix: all[0]?.prefix,
    cluster: true,
    // If one of them closes, nothing can listen to all.
    ...(closings.length > 0 && { closing: AbortSignal.any(closings) }),
    databases: all.length,
    isDown: (partition) => isUnreachable(partition % all.length),
    async send(commands, options = {}) {
      const places = groupedBy([...commands.keys()], (i) => partitionOf(commands[i] as Command) % all.length);
      const outcomes: CommandOutcome[] = [];
      const failures: SluiceError[] = [];
      await Promise.all(
        Array.from(places, async ([at, own]) => {
          const ownCommands = own.map((i) => commands[i] as Command);
          const found = await sendTo(at, ownCommands, options);
          if (found instanceof SluiceError) failures.push(found);
          for (const [j, i] of own.entries())
            outcomes[i] = found instanceof SluiceError ? { error: found } : (found[j] as CommandOutcome);
        }),
      );
      const [first] = failures;
      if (first && failures.length === places.size) throw first;
      return outcomes;
    },
    ...(all.every((transport) => "subscribe" in transport) && {
      subscribe: (channel, options) => subscribeToAll(all, channel, options),
    }),
  };
}

/** Whether a transport knows that the database of a partition cannot be reached. */
export function isDown(transport: Transport | DatabasesTransport, partition: number): boolean {
  return "isDown" in transport && transport.isDown(partition);
}

function partitionOf(command: Command): number {
  const key = "script" in command ? command.keys[0] : command[1];
  return Number(PARTITION.exec(key ?? "")?.[1] ?? 0);
}

function notReached(at: number): SluiceError {
  return new SluiceError(
    "redis_unreachable",
    `database ${at} could not be reached a short time ago, and is not asked again yet`,
  );
}

/** Subscribes to a channel of all databases. */
async function subscribeToAll(
  transports: readonly Transport[],
  channel: string,
  options: SendOptions = {},
): Promise<AsyncIterable<string>> {
  const end = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, end.signal]) : end.signal;
  try {
    const feeds = await Promise.all(
      transports.map((one) => one.subscribe?.(channel, { signal }) as Promise<AsyncIterable<string>>),
    );
    const stop = () => end.abort();
    return endable(merged(feeds, stop), stop);
  } catch (error) {
    end.abort();
    throw error;
  }
}

/** The messages of all feeds. The first feed that fails ends all. */
async function* merged(
  feeds: readonly AsyncIterable<string>[],
  end: () => void,
): AsyncGenerator<string, void> {
  const nextOf = async (messages: AsyncIterator<string>) => ({ messages, result: await messages.next() });
  const iterators = feeds.map((feed) => feed[Symbol.asyncIterator]());
  const waiting = new Map(iterators.map((messages) => [messages, nextOf(messages)]));
  try {
    while (waiting.size > 0) {
      const { messages, result } = await Promise.race(waiting.values());
      if (result.done) waiting.delete(messages);
      else {
        waiting.set(messages, nextOf(messages));
        yield result.value;
      }
    }
  } finally {
    end();
    for (const next of waiting.values()) next.catch(() => {});
  }
}
