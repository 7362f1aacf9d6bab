import { createHash } from "node:crypto";
import { toBuffer, type Bytes } from "./bytes.ts";
import { LuaEngine, ScriptKilled, type CallFromScript, type ScriptResult } from "./lua/engine.ts";
import { ReplyError } from "./reply.ts";

/** A script and what its first line says. */
export interface LoadedScript {
  readonly sha: string;
  /** Without what its first line says. */
  readonly body: Bytes;
  /** Whether it may only name the keys that it declares. */
  readonly locksKeys: boolean;
  /** Whether it may not write. */
  readonly writesNothing: boolean;
}

const FLAGS = ["no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"];
/** Upstash's flag; see `keyLocking` of the transports. Open-source Redis refuses it. */
const KEY_LOCKING = "allow-key-locking";

/** What compiles and runs scripts, one at a time. */
export type Interpreter = Pick<LuaEngine, "load" | "forget" | "run">;

/** Starts the interpreter. The project's own tests put another in its place. */
export const interpreter = { start: (call: CallFromScript): Interpreter => new LuaEngine(call) };

/** Most compiled scripts that a process keeps. */
const MAX_COMPILED = 1_000;

/**
 * The Lua of this process, which starts with the first script. Databases share it, because to start it and to
 * compile scripts takes most of the time of a short test. Scripts cannot leave anything in it: its globals are
 * read-only.
 */
class SharedLua {
  #engine: Interpreter | undefined;
  readonly #compiled = new Set<string>();
  /** Runs the commands of the script that runs. */
  #call: CallFromScript | undefined;

  /** @returns why it is not valid Lua; undefined if it is */
  compile({ sha, body }: Pick<LoadedScript, "sha" | "body">): Bytes | undefined {
    if (this.#compiled.has(sha)) return undefined;
    if (this.#compiled.size >= MAX_COMPILED) {
      this.#engine?.forget();
      this.#compiled.clear();
    }
    try {
      this.#engine ??= interpreter.start((words) => (this.#call as CallFromScript)(words));
      const problem = this.#engine.load(sha, body);
      if (problem === undefined) this.#compiled.add(sha);
      return problem;
    } catch (error) {
      return this.#forgetEngine(error).message;
    }
  }

  run(
    script: LoadedScript,
    call: CallFromScript,
    keys: readonly Bytes[],
    args: readonly Bytes[],
  ): ScriptResult {
    const problem = this.compile(script);
    if (problem !== undefined) return { error: problem, line: "" };
    this.#call = call;
    try {
      return (this.#engine as Interpreter).run(script.sha, keys, args);
    } catch (error) {
      const { message, line } = this.#forgetEngine(error);
      return { error: message, line };
    }
  }

  /** Its memory may be damaged. */
  #forgetEngine(error: unknown): ScriptKilled {
    this.#engine = undefined;
    this.#compiled.clear();
    if (error instanceof ScriptKilled) return error;
    throw error;
  }
}

const lua = new SharedLua();

/** The scripts that a database has loaded. */
export class ScriptRunner {
  readonly #scripts = new Map<string, LoadedScript>();
  readonly #call: CallFromScript;
  readonly #flags: readonly string[];

  /**
   * @param call runs a command for the script that runs
   * @param acceptsKeyLocking whether scripts may have Upstash's flag
   */
  constructor(call: CallFromScript, acceptsKeyLocking: boolean) {
    this.#call = call;
    this.#flags = acceptsKeyLocking ? [...FLAGS, KEY_LOCKING] : FLAGS;
  }

  find(sha: Bytes): LoadedScript | undefined {
    return this.#scripts.get(sha.toLowerCase());
  }

  /** @throws {ReplyError} if it is not valid Lua, or its first line is invalid */
  load(source: Bytes): LoadedScript {
    const sha = createHash("sha1").update(toBuffer(source)).digest("hex");
    const known = this.#scripts.get(sha);
    if (known) return known;
    const { flags, body } = readFirstLine(source, this.#flags);
    const problem = lua.compile({ sha, body });
    if (problem !== undefined) throw new ReplyError(`ERR Error compiling script (new function): ${problem}`);
    const script = {
      sha,
      body,
      locksKeys: flags.includes(KEY_LOCKING),
      writesNothing: flags.includes("no-writes"),
    };
    this.#scripts.set(sha, script);
    return script;
  }

  run(script: LoadedScript, keys: readonly Bytes[], args: readonly Bytes[]): ScriptResult {
    return lua.run(script, this.#call, keys, args);
  }

  forget(): void {
    this.#scripts.clear();
  }
}

/**
 * The flags of a script's first line, `#!lua flags=…`, and the script without the line. The line end stays, so
 * that the other lines keep their numbers.
 */
function readFirstLine(source: Bytes, known: readonly string[]): { flags: readonly string[]; body: Bytes } {
  if (!source.startsWith("#!")) return { flags: [], body: source };
  const end = source.indexOf("\n");
  if (end < 0) throw new ReplyError("ERR Invalid script shebang");
  const [engine, ...parts] = source.slice(0, end).trim().split(/\s+/);
  if (engine !== "#!lua") throw new ReplyError(`ERR Unexpected engine in script shebang: ${engine}`);
  const flags = parts.flatMap((part) => {
    if (!part.startsWith("flags=")) throw new ReplyError(`ERR Unknown lua shebang option: ${part}`);
    return part.slice("flags=".length).split(",");
  });
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown !== undefined) throw new ReplyError(`ERR Unexpected flag in script shebang: ${unknown}`);
  return { flags, body: source.slice(end) };
}
