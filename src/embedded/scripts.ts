import { createHash } from "node:crypto";
import { toBuffer, type Bytes } from "./bytes.ts";
import { LuaEngine, type CallFromScript, type ScriptResult } from "./lua/engine.ts";
import { ReplyError } from "./reply.ts";

/** A script and what its first line says. */
export interface LoadedScript {
  readonly sha: string;
  /** Whether it may only name the keys that it declares. */
  readonly locksKeys: boolean;
  /** Whether it may not write. */
  readonly writesNothing: boolean;
}

const FLAGS = ["no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"];
/** Upstash's flag; see `keyLocking` of the transports. Open-source Redis refuses it. */
const KEY_LOCKING = "allow-key-locking";

/** The loaded scripts, and the Lua that runs them, which starts with the first script. */
export class ScriptRunner {
  readonly #scripts = new Map<string, LoadedScript>();
  readonly #call: CallFromScript;
  readonly #flags: readonly string[];
  #engine: LuaEngine | undefined;

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
    const problem = this.#lua().load(sha, body);
    if (problem !== undefined) throw new ReplyError(`ERR Error compiling script (new function): ${problem}`);
    const script = {
      sha,
      locksKeys: flags.includes(KEY_LOCKING),
      writesNothing: flags.includes("no-writes"),
    };
    this.#scripts.set(sha, script);
    return script;
  }

  run({ sha }: LoadedScript, keys: readonly Bytes[], args: readonly Bytes[]): ScriptResult {
    return this.#lua().run(sha, keys, args);
  }

  forget(): void {
    this.#scripts.clear();
    this.#engine?.forget();
  }

  #lua(): LuaEngine {
    return (this.#engine ??= new LuaEngine(this.#call));
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
