import { createHash } from "node:crypto";
import { toBuffer, type Bytes } from "../bytes.ts";
import { ReplyError, type Value } from "../reply.ts";
import { decodeReply, encodeReply, LuaMemory, readWords, sizeOfWords, writeWords } from "./codec.ts";
import { runningLine } from "./running-line.ts";
import { addressChunk, forgetChunk, loadChunk, runChunk, setup } from "./setup.ts";
import { startLua, type Lua } from "./wasm.ts";

/**
 * Most steps of one script; see `withLimits`. They take a second or two. A script that writes 12 MB to a hash, reads and
 * returns them takes 27 million.
 */
const MOST_STEPS = 500_000_000;

/** Where a table of Lua has the flag that makes it read-only. */
const READ_ONLY = 8;

/** Runs a command for a script, and returns its reply or its error. */
export type CallFromScript = (words: readonly Bytes[]) => Value;

/** The result of a script: its reply, or the error that ended it with the line of the script. */
export type ScriptResult = { readonly reply: Value } | { readonly error: Bytes; readonly line: Bytes };

/** A script had to be ended. Its engine cannot be used again. */
export class ScriptKilled extends Error {
  override readonly name = "ScriptKilled";
  /** In the script; empty if none ran. */
  readonly line: string;

  constructor(reason: string, line: string) {
    super(`ERR ${reason}`);
    this.line = line;
  }
}

/** A Lua 5.1 with the libraries of Redis, which keeps compiled scripts. One script runs at a time. */
export class LuaEngine {
  readonly #lua: Lua;
  readonly #memory: LuaMemory;
  readonly #mostSteps: number;
  /** The last error that `redis.call` raised, as Lua reports it: like one of its own. */
  #raised = "";

  /**
   * @param mostSteps of one script, in tests
   * @throws {SluiceError} `not_installed` if the file of the interpreter is missing
   */
  constructor(call: CallFromScript, mostSteps = MOST_STEPS) {
    this.#mostSteps = mostSteps;
    this.#memory = new LuaMemory(() => this.#lua);
    const answer = (result: number, address: number) => {
      const reply = call(readWords(this.#memory.bytes, address));
      this.#memory.reply(result, encodeReply(reply));
      return reply;
    };
    this.#lua = startLua({
      call: (result, address) => {
        const reply = answer(result, address);
        if (reply instanceof ReplyError) this.#raised = `ERR ${reply.message}`;
      },
      pcall: answer,
      sha1: (result, address, length) => {
        this.#lua.steps.value -= length;
        const { bytes } = this.#memory;
        const digest = createHash("sha1")
          .update(bytes.subarray(address, address + length))
          .digest("hex");
        this.#memory.reply(result, toBuffer(digest));
      },
      outOfSteps: () => {
        const reason = `Script killed by limit of ${mostSteps / 1_000_000} million steps`;
        throw new ScriptKilled(reason, runningLine(this.#memory.bytes));
      },
    });
    this.#unlocked(() => this.#chunk(setup));
  }

  /**
   * Compiles a script.
   * @param sha under which it is kept; 40 hexadecimal digits
   * @returns why it is not valid Lua; undefined if it is
   * @throws {ScriptKilled}
   */
  load(sha: string, source: Bytes): Bytes | undefined {
    return (this.#chunk(loadChunk, [sha], [source]) as Bytes | null) ?? undefined;
  }

  /** Forgets all scripts. */
  forget(): void {
    this.#chunk(forgetChunk);
  }

  /**
   * Runs a loaded script to its end.
   * @throws {ScriptKilled}
   */
  run(sha: string, keys: readonly Bytes[], args: readonly Bytes[]): ScriptResult {
    const result = this.#chunk(runChunk(sha), keys, args);
    if (result instanceof ReplyError) return { error: `ERR ${result.message}`, line: "" };
    const [value = null, line, isError] = result as readonly Value[];
    if (isError === undefined) return { reply: value };
    const error = value as Bytes;
    return { error: error === this.#raised ? error.slice("ERR ".length) : error, line: line as Bytes };
  }

  #chunk(source: string, keys: readonly Bytes[] = [], args: readonly Bytes[] = []): Value {
    const words = keys.length > 0 || args.length > 0 ? [...keys, ...args] : [];
    const size = sizeOfWords(words);
    const script = this.#lua.alloc(source.length + size + 8);
    const list = script + source.length;
    const result = list + size;
    this.#memory.bytes.write(source, script, "latin1");
    writeWords(this.#memory.bytes, list, words);
    this.#lua.steps.value = this.#mostSteps;
    try {
      this.#lua.eval_with_args(result, script, source.length, list, size, keys.length);
    } catch (error) {
      // The stack of JavaScript was too small for the calls of C within each other.
      if (!(error instanceof RangeError && error.message.includes("call stack"))) throw error;
      throw new ScriptKilled("C stack overflow", runningLine(this.#memory.bytes));
    }
    const { bytes } = this.#memory;
    const address = bytes.readUInt32LE(result);
    const value = address === 0 ? null : decodeReply(bytes, address);
    this.#lua.free_mem(script);
    if (address !== 0) this.#lua.free_mem(address);
    return value;
  }

  /** Runs something while the global tables, which are read-only for scripts, can be changed. */
  #unlocked(run: () => Value): void {
    const tables = (this.#chunk(addressChunk) as readonly Bytes[]).map((text) =>
      Number(text.replace("table: ", "")),
    );
    const flags = tables.map((table) => table + READ_ONLY);
    const { bytes } = this.#memory;
    if (flags.some((flag) => bytes.readInt32LE(flag) !== 1)) {
      throw new Error("the tables of Lua are not as this release expects them");
    }
    for (const flag of flags) bytes.writeInt32LE(0, flag);
    const problem = run();
    for (const flag of flags) this.#memory.bytes.writeInt32LE(1, flag);
    if (problem !== null)
      throw new Error(`Lua does not start: ${problem instanceof Error ? problem.message : ""}`);
  }
}
