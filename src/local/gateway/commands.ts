import { type RedisConnection } from "./redis.ts";
import { type Argument, type RedisReply, RedisUnavailable } from "./redis-client.ts";

/**
 * The positions of a command's keys among its words. Word 0 is the name. The keys are at `first` to `last` in
 * steps; a negative `last` counts from the end. If `count` is not 0, the word at `count` has the number of
 * keys.
 */
export interface KeyRange {
  readonly first: number;
  readonly last: number;
  readonly step: number;
  readonly count: number;
}

export interface CommandInfo {
  /** In capitals, as in Redis's statistics: `HGET`, `XGROUP|CREATE`. */
  readonly name: string;
  readonly flags: ReadonlySet<string>;
  readonly categories: ReadonlySet<string>;
  /** The number of words; negative: the minimum. */
  readonly arity: number;
  /** Undefined if only Redis can find them (COMMAND GETKEYS). */
  readonly keys: readonly KeyRange[] | undefined;
  /** True if it has subcommands. */
  readonly container: boolean;
}

/** The commands of a Redis, from its COMMAND. */
export class CommandTable {
  readonly #commands = new Map<string, CommandInfo>();

  /** @throws {RedisUnavailable} if Redis refuses the command */
  static async load(redis: RedisConnection): Promise<CommandTable> {
    const table = new CommandTable();
    const reply = await redis.send(["COMMAND"]);
    if (!Array.isArray(reply)) {
      throw new RedisUnavailable(
        `Redis does not list its commands: ${reply instanceof Error ? reply.message : ""}`,
      );
    }
    for (const entry of reply) table.#add(entry);
    return table;
  }

  #add(entry: RedisReply): void {
    const [name, arity, flags, , , , categories, , specs, subcommands] = items(entry);
    const info: CommandInfo = {
      name: text(name).toUpperCase(),
      arity: Number(text(arity)),
      flags: new Set(items(flags).map(text)),
      categories: new Set(items(categories).map(text)),
      keys: readKeys(specs),
      container: items(subcommands).length > 0,
    };
    this.#commands.set(info.name, info);
    for (const subcommand of items(subcommands)) this.#add(subcommand);
  }

  /** @returns `undefined` if Redis does not know the command or subcommand */
  find(name: string, subcommand?: string): CommandInfo | undefined {
    const info = this.#commands.get(name.toUpperCase());
    if (!info?.container || subcommand === undefined) return info;
    return this.#commands.get(`${info.name}|${subcommand.toUpperCase()}`);
  }
}

/** Administration that Redis does not mark as such, or not with all subcommands. */
const ADMINISTRATION =
  /^(?:SWAPDB|MIGRATE|MOVE|RESTORE-ASKING|ROLE|LASTSAVE|(?:CONFIG|LATENCY|MODULE|SLOWLOG)\b.*)$/;

/**
 * Whether Upstash supports the command over REST. The others need a connection of their own, or are administration.
 */
export function isAvailable(info: CommandInfo, command: readonly Argument[]): boolean {
  if (info.name === "XREAD" || info.name === "XREADGROUP") return !hasBlock(command);
  if (["PING", "ECHO", "PUBLISH"].includes(info.name) || info.name.startsWith("PUBSUB")) return true;
  if (ADMINISTRATION.test(info.name) || /^MEMORY\|(?!USAGE$)/.test(info.name)) return false;
  if (info.name.startsWith("CLUSTER") || info.name === "SCRIPT|DEBUG") return false;
  return (
    !["admin", "blocking", "pubsub"].some((flag) => info.flags.has(flag)) &&
    !["@connection", "@transaction", "@pubsub"].some((category) => info.categories.has(category))
  );
}

/** BLOCK is an option only before STREAMS. After it the word may be a key. */
function hasBlock(command: readonly Argument[]): boolean {
  const words = command.map((word) => word.toString().toUpperCase());
  const end = words.indexOf("STREAMS");
  const at = words.indexOf("BLOCK");
  return at !== -1 && (end === -1 || at < end);
}

/** Whether the read-only token may run the command: it must only read, and not iterate over all keys. */
export function isReadOnly(info: CommandInfo): boolean {
  if (["PING", "ECHO", "TIME"].includes(info.name)) return true;
  return info.flags.has("readonly") && !info.categories.has("@dangerous") && info.name !== "SCAN";
}

export const fitsArity = (info: CommandInfo, words: number): boolean =>
  info.arity < 0 ? words >= -info.arity : words === info.arity;

function readKeys(specs: RedisReply | undefined): KeyRange[] | undefined {
  if (!Array.isArray(specs)) return undefined;
  const ranges: KeyRange[] = [];
  for (const spec of specs) {
    const { flags, begin_search: begin, find_keys: find } = record(spec);
    const names = items(flags).map(text);
    if (names.includes("not_key")) continue;
    const search = record(begin);
    const finder = record(find);
    const at = record(finder["spec"]);
    if (names.includes("incomplete") || text(search["type"]) !== "index") return undefined;
    const start = number(record(search["spec"])["index"]);
    if (text(finder["type"]) === "range" && number(at["limit"]) === 0) {
      const last = number(at["lastkey"]);
      ranges.push({
        first: start,
        last: last < 0 ? last : start + last,
        step: number(at["keystep"]),
        count: 0,
      });
    } else if (text(finder["type"]) === "keynum") {
      const first = start + number(at["firstkey"]);
      ranges.push({ first, last: 0, step: number(at["keystep"]), count: start + number(at["keynumidx"]) });
    } else {
      return undefined;
    }
  }
  return ranges;
}

const items = (reply: RedisReply | undefined): readonly RedisReply[] => (Array.isArray(reply) ? reply : []);
const text = (reply: RedisReply | undefined): string => String(reply ?? "").toLowerCase();
const number = (reply: RedisReply | undefined): number => Number(text(reply));

/** A flat list of names and values, as RESP2 sends a map. */
function record(reply: RedisReply | undefined): Record<string, RedisReply | undefined> {
  const list = items(reply);
  return Object.fromEntries(
    list.flatMap((name, index) => (index % 2 === 0 ? [[text(name), list[index + 1]]] : [])),
  );
}
