import { type Call, commandCall } from "../kernel/call.ts";
import { exchangeByName } from "../features/partitions/stored-maps.ts";
import type { Shard } from "../kernel/shard.ts";
import { checkedTransport, type CommandOutcome, type Transport } from "../kernel/transport.ts";
import { listQueues } from "../sweep/registry.ts";
import type { CheckOptions, CheckQueues } from "../sweep/deep-part.ts";

/** What Redis says of itself. A field is null if this Redis does not report it, as Upstash does not report all. */
export interface DatabaseDiagnostics {
  /** Redis's time, epoch ms. */
  readonly now: number;
  /** How long a script call took, ms, with the way to Redis and back. */
  readonly roundTrip: number;
  readonly version: string | null;
  /** What Redis does if its memory is full. Every policy except `noeviction` may delete queues. */
  readonly evictionPolicy: string | null;
  /** In bytes. */
  readonly usedMemory: number | null;
  /** In bytes; 0 is no limit. */
  readonly maxMemory: number | null;
  /** Whether Redis writes an append-only file. */
  readonly appendOnly: boolean | null;
}

/** From how many fields Redis estimates the size of a hash. With its default of 5, one large payload may be missed. */
const SAMPLES = "1000";

/** The state of a queue's keys. */
export interface QueueDiagnostics {
  readonly queue: string;
  /** Fields of the `tasks` hash: two for each task that was dequeued, one for each other task, and some of the queue. */
  readonly fields: number;
  /** Size of the `tasks` hash, in bytes, estimated from a thousand fields; null if this Redis does not report it. */
  readonly bytes: number | null;
  /**
   * True if all entries were checked and are valid. False if there is a fault, a later release wrote some of them,
   * or they cannot be read: the deep sweep finds out, and repairs. Null if there are too many for one check, or if
   * they were not checked.
   */
  readonly valid: boolean | null;
  /** How many entries were checked. */
  readonly entries: number;
}

/**
 * Reads what Redis says of itself: three requests. Two run a script, so it also shows that scripts work.
 * @throws {SluiceError} if Redis cannot be reached, or refuses scripts
 */
export async function databaseDiagnostics(
  transport: Transport,
  options: CheckOptions = {},
): Promise<DatabaseDiagnostics> {
  // The first call may have to send the script's text.
  await listQueues(transport, { ...options, size: 1 });
  const start = performance.now();
  const { now } = await listQueues(transport, { ...options, size: 1 });
  const roundTrip = Math.round(performance.now() - start);
  const outcomes = await transport.send([["INFO"]], { signal: options.signal });
  const info = textOf(outcomes[0]);
  const field = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1] ?? null;
  const number = (name: string) => (field(name) === null ? null : Number(field(name)));
  const appendOnly = field("aof_enabled");
  return {
    now,
    roundTrip,
    version: field("redis_version"),
    evictionPolicy: field("maxmemory_policy"),
    usedMemory: number("used_memory"),
    maxMemory: number("maxmemory"),
    appendOnly: appendOnly === null ? null : appendOnly === "1",
  };
}

/**
 * Checks the keys of one queue, all its partitions, and changes nothing. Two requests, or three if it has
 * partitions.
 * @param check checks the entries. @default only their number and size are read
 * @throws {SluiceError} if Redis cannot be reached
 */
export async function queueDiagnostics(
  transport: Transport,
  queue: string,
  options: CheckOptions,
  check: CheckQueues | undefined,
): Promise<QueueDiagnostics> {
  const { prefix, signal } = options;
  const where = { transport: checkedTransport(transport), prefix };
  const sizesOf = ({ keys: { tasks } }: Shard) =>
    [commandCall(["HLEN", tasks], Number), usageCall(tasks)] as const;
  const found = await exchangeByName(where, [queue], sizesOf, { signal });
  const parts = found.get(queue) ?? [];
  const names = parts.map(({ shard }) => shard.name);
  const fields = parts.map(({ replies: [length] }) => length());
  const checks = await check?.(transport, names, options);
  const validOf = (name: string) =>
    checks?.has(name) === false ? false : (checks?.get(name)?.valid ?? null);
  const valid = names.map(validOf);
  const bytes = parts.map(({ replies: [, usage] }, i) => (fields[i] === 0 ? 0 : usage()));
  return {
    queue,
    fields: fields.reduce((sum, length) => sum + length, 0),
    bytes: bytes.includes(null) ? null : bytes.reduce<number>((sum, size) => sum + (size ?? 0), 0),
    valid: valid.includes(false) ? false : valid.includes(null) ? null : true,
    entries: names.reduce((sum, name) => {
      const checked = checks?.get(name);
      return sum + (checked?.valid ? checked.entries : 0);
    }, 0),
  };
}

/** The size of a hash, in bytes; null if this Redis does not report it. */
function usageCall(key: string): Call<number | null> {
  return {
    command: ["MEMORY", "USAGE", key, "SAMPLES", SAMPLES],
    read: (outcome) =>
      outcome && "reply" in outcome && typeof outcome.reply === "number" ? outcome.reply : null,
  };
}

/** The text that a command returned; empty if Redis refused it. */
function textOf(outcome: CommandOutcome | undefined): string {
  return outcome && "reply" in outcome && typeof outcome.reply === "string" ? outcome.reply : "";
}
