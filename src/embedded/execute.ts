import type { Bytes } from "./bytes.ts";
import type { Client } from "./client.ts";
import { fitsArity, keysOf, type Command, type Context } from "./command.ts";
import { commandTable, type CommandTable } from "./commands/table.ts";
import type { RunningScript } from "./commands/scripting.ts";
import { showCommand } from "./monitor.ts";
import { QUEUED, ReplyError, Status, wrongArity, type Value } from "./reply.ts";
import { ScriptRunner } from "./scripts.ts";
import { Server } from "./server.ts";
import type { Words } from "./words.ts";

/** What a client may send that has subscribed. */
const WHILE_SUBSCRIBED = ["subscribe", "psubscribe", "unsubscribe", "punsubscribe", "ping", "quit", "reset"];
const NO_ROOM = "OOM command not allowed when used memory > 'maxmemory'.";
const IN_TRANSACTION = ["exec", "discard", "multi", "watch", "quit", "reset"];

/** Runs commands, one at a time. */
export class Executor {
  readonly server: Server;
  readonly #table: CommandTable;
  #script: RunningScript | undefined;

  /**
   * @param now the clock of keys and scripts, epoch ms
   * @param acceptsKeyLocking whether scripts may have Upstash's flag
   */
  constructor(now: () => number, acceptsKeyLocking: boolean) {
    const scripts = new ScriptRunner((words) => this.#callFromScript(words), acceptsKeyLocking);
    this.server = new Server(scripts, now);
    this.#table = commandTable({
      during: (script, run) => {
        this.#script = script;
        try {
          return run();
        } finally {
          this.#script = undefined;
        }
      },
      transaction: (context) => this.#endTransaction(context),
    });
  }

  /** Runs a command of a client, or queues it. Never throws a {@link ReplyError}. */
  run(client: Client, words: Words): Value {
    this.server.store.begin(this.server.now());
    try {
      return this.#accept(client, words);
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
      if (client.queued) client.isBroken = true;
      return error;
    }
  }

  #accept(client: Client, words: Words): Value {
    const command = this.#find(words);
    if (!fitsArity(command, words)) {
      this.server.count(command.name, "rejected");
      const refusal = wrongArity(command.name);
      if (command.name !== "exec") throw refusal;
      throw new ReplyError(refusal.message.replace("ERR", "EXECABORT Transaction discarded because of:"));
    }
    const refusal = this.#refusalOf(command);
    if (refusal !== undefined) {
      this.server.count(command.name, "rejected");
      throw new ReplyError(refusal);
    }
    if (client.subscriptions > 0 && !WHILE_SUBSCRIBED.includes(command.name)) {
      throw new ReplyError(
        `ERR Can't execute '${command.name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context`,
      );
    }
    if (client.queued && !IN_TRANSACTION.includes(command.name)) {
      client.queued.push(words);
      return QUEUED;
    }
    return this.#run(command, { store: this.server.store, server: this.server, client }, words);
  }

  /** @throws {ReplyError} of the kind that a client gets */
  #find(words: Words): Command {
    const command = this.#table.find(words);
    if (command) return command;
    const [name = "", sub = ""] = words;
    const parent = this.#table.find([name]);
    if (!parent) {
      // As C prints them: up to a NUL.
      const args = words.slice(1).map((word) => `'${word.replace(/\0[^]*/, "").slice(0, 128)}' `);
      let shown = "";
      for (const arg of args) if (shown.length < 128) shown += arg;
      throw new ReplyError(`ERR unknown command '${name.slice(0, 128)}', with args beginning with: ${shown}`);
    }
    if (words.length === 1) throw wrongArity(parent.name);
    throw new ReplyError(`ERR unknown subcommand '${sub.slice(0, 128)}'. Try ${name.toUpperCase()} HELP.`);
  }

  #run(command: Command, context: Context, words: Words): Value {
    if (!command.flags.includes("admin")) this.#showMonitors(context.client, words);
    if (command.flags.includes("write")) this.server.writes += 1;
    let reply: Value;
    try {
      reply = (command.run as NonNullable<Command["run"]>)(context, words);
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
      reply = error;
    }
    this.server.count(command.name, reply instanceof ReplyError ? "failed" : "ok");
    return reply;
  }

  #endTransaction(context: Context): Value {
    const { client } = context;
    const { queued = [], isBroken } = client;
    client.queued = undefined;
    client.isBroken = false;
    if (isBroken) throw new ReplyError("EXECABORT Transaction discarded because of previous errors.");
    return queued.map((words) => this.#run(this.#find(words), context, words));
  }

  #callFromScript(words: Words): Value {
    const running = this.#script as RunningScript;
    if (words.length === 0) {
      return new ReplyError("ERR Please specify at least one argument for this redis lib call");
    }
    const command = this.#table.find(words);
    const refusal = command
      ? this.#refusalInScript(command, words, running)
      : "ERR Unknown Redis command called from script";
    if (refusal !== undefined) {
      if (command) this.server.count(command.name, "rejected");
      return new ReplyError(refusal);
    }
    if (command?.flags.includes("write")) running.hasWritten = true;
    return this.#run(command as Command, running.context, words);
  }

  /** Why no client may run a command now; undefined if it may. */
  #refusalOf({ name, flags }: Command): Bytes | undefined {
    if (this.server.denied.has(name))
      return `NOPERM this user has no permissions to run the '${name}' command`;
    return this.server.isFull && flags.includes("denyoom") ? NO_ROOM : undefined;
  }

  /** Why a script may not run a command; undefined if it may. */
  #refusalInScript(command: Command, words: Words, running: RunningScript): Bytes | undefined {
    if (!fitsArity(command, words)) return "ERR Wrong number of args calling Redis command from script";
    if (command.flags.includes("noscript")) return "ERR This Redis command is not allowed from script";
    if (this.server.denied.has(command.name)) {
      return "ERR The user executing the script can't run this command or subcommand";
    }
    if (running.isReadOnly && command.flags.includes("write")) {
      return "ERR Write commands are not allowed from read-only scripts.";
    }
    if (this.server.isFull && !running.hasWritten && command.flags.includes("denyoom")) return NO_ROOM;
    if (!running.script.locksKeys) return undefined;
    const undeclared = keysOf(command, words).find((key) => !running.keys.includes(key));
    return undeclared === undefined
      ? undefined
      : `ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: ${undeclared}`;
  }

  #showMonitors(client: Client, words: Words): void {
    let line: Bytes | undefined;
    for (const other of this.server.clients) {
      if (!other.isMonitor) continue;
      line ??= showCommand(words, this.#script ? "lua" : client.address, this.server.now());
      other.push(new Status(line));
    }
  }
}
