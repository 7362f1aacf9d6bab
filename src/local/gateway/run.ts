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

/** A command as it goes to Redis, and how its reply is counted and put in the client's terms. */
interface Call {
  readonly send: readonly Argument[];
  settle(reply: RedisReply): Outcome | Promise<Outcome>;
}

/** What the shim around a script returns: the reply, or the text and line of an error. */
type ShimReply = readonly [ok: string, tally: readonly RedisReply[], value?: RedisReply, line?: Buffer];

/** Redis has never heard of it, so it knows no script of that SHA either. */
const unknownSha = "0".repeat(40);

/** Runs clients' commands on Redis and counts them. */
export class Runner {
  readonly #redis: RedisConnection;
  readonly #table: CommandTable;
  readonly #scripts: Scripts;
  readonly #meter: Meter;

  constructor(redis: RedisConnection, table: CommandTable, scripts: Scripts, meter: Meter) {
    this.#redis = redis;
    this.#table = table;
    this.#scripts = scripts;
    this.#meter = meter;
  }

  /** @throws {RedisUnavailable} */
  async run(command: Command, rights: Rights): Promise<Outcome> {
    const call = this.#prepare(command, rights);
    if ("error" in call) return call;
    return await call.settle(await this.#redis.send(call.send));
  }

  /**
   * Runs commands between MULTI and EXEC.
   * @returns one error when the transaction was discarded
   * @throws {RedisUnavailable}
   */
  async transaction(commands: readonly Command[], rights: Rights): Promise<Outcome[] | { error: string }> {
    const calls: Call[] = [];
    for (const command of commands) {
      const call = this.#prepare(command, rights);
      if ("error" in call) return call;
      calls.push(call);
    }
    const reply = await this.#redis.transaction(calls.map(({ send }) => send));
    this.#meter.command("MULTI");
    this.#meter.command("EXEC");
    if (reply instanceof Error) return { error: reply.message };
    const replies = Array.isArray(reply) ? (reply as readonly RedisReply[]) : [];
    return await Promise.all(calls.map(async (call, index) => await call.settle(replies[index] ?? null)));
  }

  /**
   * Opens the feed of SUBSCRIBE, PSUBSCRIBE or MONITOR.
   * @returns why it is refused
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

  /** Makes Redis forget every script, before it sees what is run from now on. It is not counted. */
  forgetScripts(): void {
    // Where Redis is away, so is what it has cached.
    this.#redis.send(["SCRIPT", "FLUSH"]).catch(() => {});
  }

  #prepare(command: Command, rights: Rights): Call | { error: string } {
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
    }
    return this.#plain(info, command);
  }

  #plain(info: CommandInfo | undefined, command: readonly Argument[]): Call {
    return {
      send: command,
      settle: (reply) => {
        if (info && fitsArity(info, command.length)) this.#count(info.name, reply);
        return { reply };
      },
    };
  }

  #evaluate(info: CommandInfo, command: Command): Call {
    const [name, body, ...rest] = command as [Argument, Argument, ...Argument[]];
    const bySha = info.name.startsWith("EVALSHA");
    const script = bySha ? this.#scripts.find(String(body)) : this.#scripts.learn(String(body));
    // A script that did not come through here would run uncounted, so the client has to send it: it
    // does so when Redis says that it has no such script.
    const text = bySha ? (script?.wrappedSha ?? unknownSha) : (script as GatewayScript).wrapped;
    return {
      send: [name, text, ...rest],
      settle: (reply) => {
        this.#count(info.name, reply);
        return script ? this.#unwrap(script, reply) : { reply };
      },
    };
  }

  #load(info: CommandInfo, command: Command): Call {
    const script = this.#scripts.learn(String(command[2]));
    return {
      send: [...command.slice(0, 2), script.wrapped],
      settle: (reply) => {
        this.#count(info.name, reply);
        return reply instanceof Error ? this.#error(script, reply) : { reply: Buffer.from(script.sha) };
      },
    };
  }

  #known(command: Command): string[] {
    return command.slice(2).map((sha) => this.#scripts.find(String(sha))?.wrappedSha ?? unknownSha);
  }

  /** Takes a script's reply out of what the shim has put around it. */
  #unwrap(script: GatewayScript, reply: RedisReply): Outcome | Promise<Outcome> {
    if (reply instanceof Error) return this.#error(script, reply);
    if (script.wrapped === script.source) return { reply };
    const [ok, tally, value, line] = reply as unknown as ShimReply;
    for (let index = 0; index < tally.length; index += 2) {
      const [name, error] = String(tally[index]).split("\n", 2) as [string, string?];
      if (error === undefined || !wasRefused(error)) this.#meter.command(name, Number(tally[index + 1]));
    }
    if (ok === "1") return { reply: value ?? null };
    const place = line?.length ? ` script: ${script.sha}, on @user_script:${String(line)}.` : "";
    return { error: `${String(value)}${place}` };
  }

  /** An error of Redis's own about a script, in the words that it has for the client's script. */
  async #error(script: GatewayScript, error: Error): Promise<Outcome> {
    if (error.message.startsWith("ERR Error compiling script") && script.wrapped !== script.source) {
      // Only Redis can say what is wrong with it as it stands. It is not counted: the client sent one command.
      const reply = await this.#redis.send(["SCRIPT", "LOAD", script.source]);
      if (reply instanceof Error) return { error: reply.message };
    }
    return { error: error.message };
  }

  #count(name: string, reply: RedisReply): void {
    if (!(reply instanceof Error) || !wasRefused(reply.message)) this.#meter.command(name);
  }
}

/** Whether Redis has refused the command before it ran: such are not among the calls of its statistics. */
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
