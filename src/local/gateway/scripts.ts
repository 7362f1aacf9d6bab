import { createHash } from "node:crypto";
import type { CommandTable } from "./commands.ts";
import { wrapBody } from "./shim.ts";

/** In which scripts undeclared keys are refused: those with `allow-key-locking`, or all. */
export type StrictKeys = "flagged" | "always";

/** A client's script, and the wrapped script that the gateway runs instead. */
export interface GatewayScript {
  readonly source: string;
  /** The SHA-1 for the client. */
  readonly sha: string;
  readonly wrapped: string;
  /** The SHA-1 for Redis. */
  readonly wrappedSha: string;
}

/** The scripts from clients. */
export class Scripts {
  readonly #bySha = new Map<string, GatewayScript>();
  readonly #table: CommandTable;
  readonly #strict: StrictKeys;

  constructor(table: CommandTable, strict: StrictKeys) {
    this.#table = table;
    this.#strict = strict;
  }

  learn(source: string): GatewayScript {
    const sha = sha1(source);
    const known = this.#bySha.get(sha);
    if (known) return known;
    const wrapped = this.#wrap(source);
    const script = { source, sha, wrapped, wrappedSha: sha1(wrapped) };
    this.#bySha.set(sha, script);
    return script;
  }

  find(sha: string): GatewayScript | undefined {
    return this.#bySha.get(sha.toLowerCase());
  }

  #wrap(source: string): string {
    const { shebang, locking, body } = splitShebang(source);
    const neutral = keepLines(body);
    // The script would close the function of the shim. Redis reports why it is not valid Lua.
    if (neutral === undefined) return source;
    const strict = locking || this.#strict === "always";
    const specs = this.#specs(body, strict);
    return shebang + wrapBody(neutral, specs, strict, shebang === "" ? 1 : 2);
  }

  /** The key ranges of the commands that the script names, as a Lua table for the shim. */
  #specs(body: string, strict: boolean): string {
    const names = new Set([...body.matchAll(/["']([A-Za-z][\w.-]*)["']/g)].map(([, name]) => name as string));
    const entries = [...names].flatMap((name) => {
      const info = this.#table.find(name);
      if (info?.container) return [`['${name}']='container'`];
      if (!strict || !info?.keys) return [];
      const ranges = info.keys.map(({ first, last, step, count }) => `{${first},${last},${step},${count}}`);
      return [`['${name}']={${ranges.join(",")}}`];
    });
    return `{${entries.join(",")}}`;
  }
}

/**
 * Removes from a script's first line the flag that open-source Redis refuses. The line stays, empty, so that
 * the other lines keep their numbers.
 */
function splitShebang(source: string): { shebang: string; locking: boolean; body: string } {
  const [first] = /^#!.*\n?/.exec(source) ?? [""];
  const rest = source.slice(first.length);
  const listed = /^#!lua\s+flags=(\S*)\s*$/.exec(first)?.[1]?.split(",") ?? [];
  const flags = listed.filter((flag) => flag !== "allow-key-locking");
  const locking = flags.length < listed.length;
  if (first === "") return { shebang: "", locking, body: source };
  if (locking && flags.length === 0) return { shebang: "", locking, body: `\n${rest}` };
  const shebang = locking ? `#!lua flags=${flags.join(",")}\n` : first;
  return { shebang, locking, body: rest };
}

/**
 * Replaces `return redis.call(…)` by `return false or redis.call(…)`. It means the same, but Lua makes no
 * tail call of it. A tail call to the shim would lose its line, which error messages need.
 * @returns `undefined` if the script closes more blocks than it opens
 */
function keepLines(body: string): string | undefined {
  const aliases = [...body.matchAll(/\blocal\s+(\w+)\s*=\s*redis\s*\.\s*p?call\b(?!\s*[("'])/g)].map(
    ([, name]) => name,
  );
  const calls = [String.raw`redis\s*\.\s*p?call`, ...aliases].join("|");
  // Comments and strings first, so that no word in them counts as a keyword.
  const token = new RegExp(
    String.raw`--\[(=*)\[[^]*?\]\1\]|--[^\n]*|\[(=*)\[[^]*?\]\2\]|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'` +
      String.raw`|\b(?:function|do|if|repeat|end|until)\b|\breturn(?=\s+(?:${calls})\b)`,
    "g",
  );
  let depth = 0;
  let lowest = 0;
  const kept = body.replaceAll(token, (word) => {
    if (word === "return") return "return false or";
    if (word === "end" || word === "until") depth -= 1;
    else if (/^(?:function|do|if|repeat)$/.test(word)) depth += 1;
    lowest = Math.min(lowest, depth);
    return word;
  });
  return lowest < 0 ? undefined : kept;
}

const sha1 = (text: string): string => createHash("sha1").update(text).digest("hex");
