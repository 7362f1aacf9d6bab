import { randomBytes } from "node:crypto";
import { type CommandInfo, type CommandTable, fitsArity, isAvailable, isReadOnly } from "./commands.ts";
import type { Feed } from "./feed.ts";
import type { RedisConnection } from "./redis.ts";
import type { Argument, RedisReply } from "./redis-client.ts";
import type { Outcome } from "./reply.ts";
import type { GatewayScript, Scripts } from "./scripts.ts";
import type { Meter } from "./usage.ts";

/** What a token may do. */
export type Rights = "standard" | "read-only";

export type Command = readonly [name: Argument, ...args: Argument[]];

/** A command as it is sent to Redis, and a function that counts it and translates its reply. */
interface PreparedCommand {
  readonly send: readonly Argument[];
  translateReply(reply: RedisReply): Outcome | Promise<Outcome>;
}

/**
 * What the shim around a script returns: the counts of its commands, and its reply or its error with a line.
 */
type ShimReply = readonly [ok: string, counts: readonly RedisReply[], value?: RedisReply, line?: Buffer];

const SAME_KEY = "ERR source and destination objects are the same";
/** The integer 0. */
const NOT_COPIED = "0";

/** A SHA that no script has. */
const unknownSha = "0".repeat(40);

/** Runs the clients' commands on Redis and counts them. */
export class Runner {
  readonly #redis: RedisConnection;
  readonly #table: CommandTable;
  readonly #scripts: Scripts;
  readonly #meter: Meter;
  readonly #instance = randomBytes(12).toString("base64url");
  #writes = 0;

  constructor(redis: RedisConnection, table: CommandTable, scripts: Scripts, meter: Meter) {
    this.#redis = redis;
    this.#table = table;
    this.#scripts = scripts;
    this.#meter = meter;
  }

  /** Changes with each command that may have written. */
  get syncToken(): string {
    return `${this.#instance}-${this.#writes}`;
  }

  /** @throws {RedisUnavailable} */
  async run(command: Command, rights: Rights): Promise<Outcome> {
    const prepared = this.#prepare(command, rights);
    if ("error" in prepared) return prepared;
    return await prepared.translateReply(await this.#redis.send(prepared.send));
  }

  /**
   * Runs commands between MULTI and EXEC.
   * @returns one error if the transaction was discarded
   * @throws {RedisUnavailable}
   */
  async transaction(commands: readonly Command[], rights: Rights): Promise<Outcome[] | { error: string }> {
    const all: PreparedCommand[] = [];
    for (const command of commands) {
      const prepared = this.#prepare(command, rights);
      if ("error" in prepared) return prepared;
      all.push(prepared);
    }
    const reply = await this.#redis.transaction(all.map(({ send }) => send));
    this.#meter.command("MULTI");
    this.#meter.command("EXEC");
    if (reply instanceof Error) return { error: reply.message };
    const replies = Array.isArray(reply) ? (reply as readonly RedisReply[]) : [];
    return await Promise.all(all.map(async (one, index) => await one.translateReply(replies[index] ?? null)));
  }

  /**
   * Opens the feed of SUBSCRIBE, PSUBSCRIBE or MONITOR.
   * @returns the feed, or the error if it is refused
   * @throws {RedisUnavailable}
   */
  async open(command: Command, rights: Rights): Promise<Feed | Outcome> {
    const name = String(command[0]);
    const info = this.#table.find(name);
    if (!info) return notAvailable(name);
    if (rights === "read-only" && !isReadOnly(info)) return noPermission(name);
    if (!fitsArity(info, command.length)) {
      return { error: `ERR wrong number of arguments for '${name.toLowerCase()}' command` };
    }
    const opened = await this.#redis.feed(command);
    this.#count(info.name, opened instanceof Error ? opened : null);
    return opened instanceof Error ? { reply: opened } : opened;
  }

  /** Makes Redis forget every script before it gets any later command. Not counted. */
  forgetScripts(): void {
    // If Redis is unreachable, its scripts are lost too.
    this.#redis.send(["SCRIPT", "FLUSH"]).catch(() => {});
  }

  #prepare(command: Command, rights: Rights): PreparedCommand | { error: string } {
    const [name, sub] = command.map(String) as [string, string?];
    if (!this.#table.find(name)) return notAvailable(name);
    const info = this.#table.find(name, sub);
    if (info && !isAvailable(info, command)) return notAvailable(name);
    if (rights === "read-only" && !(info && isReadOnly(info))) return noPermission(name);
    if (info && fitsArity(info, command.length)) {
      if (/^EVAL(SHA)?(_RO)?$/.test(info.name)) return this.#evaluate(info, command);
      if (info.name === "SCRIPT|LOAD") return this.#load(info, command);
      if (info.name === "SCRIPT|EXISTS")
        return this.#plain(info, [...command.slice(0, 2), ...this.#known(command)]);
      if (info.name === "SCAN") return this.#scan(info, command);
      if (info.name === "COPY") return this.#copy(info, command);
    }
    return this.#plain(info, command);
  }

  #plain(info: CommandInfo | undefined, command: readonly Argument[]): PreparedCommand {
    return {
      send: command,
      translateReply: (reply) => {
        if (info && fitsArity(info, command.length)) this.#count(info.name, reply);
        if (info?.flags.has("write") && !(reply instanceof Error)) this.#writes += 1;
        return { reply };
      },
    };
  }

  /** Upstash's option WITHTYPE puts its type behind each key. Redis has none, so each is asked for. */
  #scan(info: CommandInfo, command: Command): PreparedCommand {
    // From the cursor on, all options but this one have a value.
    let at = 2;
    while (at < command.length && String(command[at]).toUpperCase() !== "WITHTYPE") at += 2;
    if (at >= command.length) return this.#plain(info, command);
    const plain = this.#plain(info, command.toSpliced(at, 1));
    return {
      send: plain.send,
      translateReply: async (reply) => {
        const outcome = await plain.translateReply(reply);
        if (!Array.isArray(reply)) return outcome;
        const [cursor, keys] = reply as unknown as readonly [RedisReply, readonly Buffer[]];
        const typed = await Promise.all(
          keys.map(async (key) => [key, await this.#redis.send(["TYPE", key])] as const),
        );
        // A key that has gone meanwhile has none.
        return { reply: [cursor, typed.filter(([, type]) => String(type) !== "none").flat()] };
      },
    };
  }

  /** On Upstash, a key is not copied to itself, which Redis answers with an error. */
  #copy(info: CommandInfo, command: Command): PreparedCommand {
    const plain = this.#plain(info, command);
    return {
      send: plain.send,
      translateReply: (reply) => {
        const isSame = reply instanceof Error && reply.message === SAME_KEY;
        return plain.translateReply(isSame ? NOT_COPIED : reply);
      },
    };
  }

  #evaluate(info: CommandInfo, command: Command): PreparedCommand {
    const [name, body, ...rest] = command as [Argument, Argument, ...Argument[]];
    const bySha = info.name.startsWith("EVALSHA");
    const script = bySha ? this.#scripts.find(String(body)) : this.#scripts.learn(String(body));
    // A script that the gateway has not seen would run uncounted. With an unknown SHA Redis refuses it, and
    // the client sends the script.
    const text = bySha ? (script?.wrappedSha ?? unknownSha) : (script as GatewayScript).wrapped;
    return {
      send: [name, text, ...rest],
      translateReply: (reply) => {
        this.#count(info.name, reply);
        if (!info.name.endsWith("_RO")) this.#writes += 1;
        return script ? this.#unwrap(script, reply) : { reply };
      },
    };
  }

  #load(info: CommandInfo, command: Command): PreparedCommand {
    const script = this.#scripts.learn(String(command[2]));
    return {
      send: [...command.slice(0, 2), script.wrapped],
      translateReply: (reply) => {
        this.#count(info.name, reply);
        return reply instanceof Error ? this.#error(script, reply) : { reply: Buffer.from(script.sha) };
      },
    };
  }

  #known(command: Command): string[] {
    return command.slice(2).map((sha) => this.#scripts.find(String(sha))?.wrappedSha ?? unknownSha);
  }

  /** Extracts a script's reply from the result of the shim. */
  #unwrap(script: GatewayScript, reply: RedisReply): Outcome | Promise<Outcome> {
    if (reply instanceof Error) return this.#error(script, reply);
    if (script.wrapped === script.source) return { reply };
    const [ok, counts, value, line] = reply as unknown as ShimReply;
    for (let index = 0; index < counts.length; index += 2) {
      const [name, error] = String(counts[index]).split("\n", 2) as [string, string?];
      if (error === undefined || !wasRefused(error)) this.#meter.command(name, Number(counts[index + 1]));
    }
    if (ok === "1") return { reply: value ?? null };
    const place = line?.length ? ` script: ${script.sha}, on @user_script:${String(line)}.` : "";
    return { error: `${String(value)}${place}` };
  }

  /**
   * Returns Redis's error about a script. Its text must be about the client's script, not the wrapped one.
   */
  async #error(script: GatewayScript, error: Error): Promise<Outcome> {
    if (error.message.startsWith("ERR Error compiling script") && script.wrapped !== script.source) {
      // Only Redis can tell what is wrong with the unwrapped script. Not counted, because the client sent one
      // command.
      const reply = await this.#redis.send(["SCRIPT", "LOAD", script.source]);
      if (reply instanceof Error) return { error: reply.message };
    }
    return { error: error.message };
  }

  #count(name: string, reply: RedisReply): void {
    if (!(reply instanceof Error) || !wasRefused(reply.message)) this.#meter.command(name);
  }
}

/** Whether Redis refused the command before it ran. Its statistics do not count such calls. */
const wasRefused = (error: string): boolean =>
  /^(OOM|MISCONF|READONLY|NOREPLICAS|NOAUTH|NOPERM|LOADING|BUSY|MASTERDOWN|CLUSTERDOWN) /.test(error) ||
  /^ERR (Unknown Redis command|Wrong number of args calling|This Redis command is not allowed|Write commands are not allowed|Please specify at least one arg|Lua redis lib command arg)/.test(
    error,
  );

const notAvailable = (name: string): { error: string } => ({
  error: `ERR Command is not available: '${name.toUpperCase()}'. See https://upstash.com/docs/redis/overall/rediscompatibility for details`,
});

const noPermission = (name: string): { error: string } => ({
  error: `NOPERM this user has no permissions to run the '${name.toLowerCase()}' command or its subcommand`,
});
