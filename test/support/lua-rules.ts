import type { LuaNode } from "luaparse";
import { list, parse, within } from "./lua-tree.ts";

/** Commands whose work grows with the data, and those that no script may use. */
const banned = new Set(
  (
    "KEYS SCAN LREM LINSERT HGETALL HKEYS HVALS SMEMBERS SUNION SINTER SDIFF SORT " +
    "ZREMRANGEBYSCORE ZREMRANGEBYLEX ZUNION ZINTER ZDIFF ZUNIONSTORE ZINTERSTORE ZDIFFSTORE " +
    "FLUSHALL FLUSHDB EVAL EVALSHA SELECT"
  ).split(" "),
);

/** Commands that need a bound, with the argument that gives it. */
const limited: Readonly<Record<string, string>> = {
  ZRANGEBYSCORE: "LIMIT",
  ZREVRANGEBYSCORE: "LIMIT",
  ZRANGEBYLEX: "LIMIT",
  ZREVRANGEBYLEX: "LIMIT",
  LPOS: "MAXLEN",
  HSCAN: "COUNT",
  SSCAN: "COUNT",
  ZSCAN: "COUNT",
};
const ranges = new Set(["LRANGE", "ZRANGE", "ZREVRANGE", "ZREMRANGEBYRANK"]);

/**
 * The globals that C Lua and GopherLua share and Redis adds; not `tostring`, which writes numbers differently
 * in each.
 */
const portable =
  "redis string table math tonumber type pairs ipairs next unpack select error assert pcall".split(" ");

export interface LuaRules {
  /** The locals that scripts share, which a script may use. */
  readonly shared: ReadonlySet<string>;
  /** True for a file with those locals: it has no contract, and may pass on commands. */
  readonly isShared?: boolean;
  /** True for a file of a layer: at its top level it may assign to those locals. @default false */
  readonly isLayer?: boolean | undefined;
}

/** The names that a file declares. */
export function topLevelNames(text: string): Set<string> {
  const names = parse(text).body.flatMap((node) =>
    "variables" in node ? list(node, "variables") : [node["identifier"] as LuaNode],
  );
  return new Set(names.map((node) => String(node["name"])));
}

/** The breaches of the design's laws in a Lua file; empty if it keeps them. */
export function ruleBreaches(name: string, text: string, rules: LuaRules): string[] {
  const chunk = parse(text);
  const breaches: string[] = [];
  const breach = (node: LuaNode, what: string) => breaches.push(`line ${node.loc.start.line}: ${what}`);

  if (!new RegExp(`^-- ${name}: \\S`).test(text)) {
    breaches.push(`line 1: the first line must be "-- ${name}: what it does"`);
  }

  let rest = chunk.body;
  if (!rules.isShared) {
    const end = chunk.body.findIndex((node) => !isContractLine(node));
    const block = chunk.body.slice(0, end);
    rest = chunk.body.slice(end);
    breaches.push(...contractBreaches(block, text.split("\n")));
  }
  for (const node of rest.flatMap(within)) {
    if (
      node.type === "Identifier" &&
      (node["name"] === "KEYS" || node["name"] === "ARGV") &&
      !node["isLocal"]
    ) {
      breach(node, `${node["name"]} outside the contract block`);
    }
  }

  const known = new Set([...portable, ...rules.shared, "KEYS", "ARGV"]);
  for (const node of chunk.globals) {
    if (!known.has(node.name)) breach(node, `the global ${node.name} is not portable, or not defined`);
  }
  for (const node of within(chunk)) {
    if (rules.isLayer && chunk.body.includes(node)) continue;
    for (const target of targets(node)) {
      if (target.type === "Identifier" && target["isLocal"] === false) breach(target, "a global is assigned");
    }
    if (stringOf(node) !== undefined && banned.has(stringOf(node) ?? ""))
      breach(node, `${stringOf(node)} is banned`);
    if (node.type === "CallExpression") {
      for (const what of callBreaches(node, rules.isShared === true)) breach(node, what);
    }
  }
  return breaches;
}

function isContractLine(node: LuaNode): boolean {
  const names = within(node).map((inner) => inner["name"]);
  return node.type === "LocalStatement" && (names.includes("KEYS") || names.includes("ARGV"));
}

/**
 * A contract: `local name = KEYS[n] -- comment`, numbered in order, then ARGV likewise, then `-- Returns …`.
 */
function contractBreaches(block: readonly LuaNode[], lines: readonly string[]): string[] {
  const breaches: string[] = [];
  const count = { KEYS: 0, ARGV: 0 };
  let previous: number | undefined;
  for (const node of block) {
    const { line } = node.loc.start;
    const text = lines[line - 1] ?? "";
    const [, table, index] =
      /^local \w+ = (?:tonumber\()?(KEYS|ARGV)(?:\[(\d+)\])?\)?(?: == '\w+')? -- \S/.exec(text) ?? [];
    if (table !== "KEYS" && table !== "ARGV") {
      breaches.push(`line ${line}: not of the form "local name = KEYS[n] -- what it is"`);
    } else if (index !== undefined && Number(index) !== ++count[table]) {
      breaches.push(`line ${line}: ${table}[${count[table]}] is expected here`);
    } else if (table === "KEYS" && count.ARGV > 0) {
      breaches.push(`line ${line}: KEYS after ARGV`);
    }
    if (
      previous !== undefined &&
      lines.slice(previous, line - 1).some((between) => !between.startsWith("--"))
    ) {
      breaches.push(`line ${line}: apart from the contract block`);
    }
    previous = node.loc.end.line;
  }
  if (count.KEYS === 0) breaches.push("no contract block");
  const after = lines.slice(previous ?? 0);
  if (
    !after
      .slice(
        0,
        after.findIndex((text) => !text.startsWith("--")),
      )
      .some((text) => text.startsWith("-- Returns "))
  ) {
    breaches.push('no "-- Returns …" below the contract block');
  }
  return breaches;
}

function callBreaches(node: LuaNode, isShared: boolean): string[] {
  const base = node["base"] as LuaNode;
  const args = list(node, "arguments");
  const words = args.map(wordOf);
  const isRedisCall =
    base.type === "MemberExpression" &&
    (base["base"] as LuaNode)["name"] === "redis" &&
    ["call", "pcall"].includes(String((base["identifier"] as LuaNode)["name"]));
  if (isRedisCall && !isShared && !/^[A-Z]+$/.test(words[0] ?? "")) {
    return ["the command of redis.call must be written out, in upper case"];
  }

  // Also behind a function of the prelude that passes the command on.
  const command = words[0] ?? "";
  if (ranges.has(command)) {
    const byScoreOrLex = words.includes("BYSCORE") || words.includes("BYLEX");
    const fromEnd = words[2]?.startsWith("-") === true && !byScoreOrLex;
    const toEnd = byScoreOrLex
      ? !words.includes("LIMIT") || words[words.indexOf("LIMIT") + 2] === "-1"
      : words[3] === "-1";
    const bounded = fromEnd || !toEnd;
    return bounded ? [] : [`${command} without a bound`];
  }
  const bound = limited[command];
  return bound !== undefined && !words.includes(bound) ? [`${command} without ${bound}`] : [];
}

function targets(node: LuaNode): readonly LuaNode[] {
  if (node.type === "AssignmentStatement") return list(node, "variables");
  if (node.type !== "FunctionDeclaration" || node["isLocal"] === true) return [];
  return node["identifier"] ? [node["identifier"] as LuaNode] : [];
}

/** A literal argument, as Redis gets it. */
function wordOf(node: LuaNode): string | undefined {
  if (node.type === "UnaryExpression") return `-${wordOf(node["argument"] as LuaNode) ?? ""}`;
  return node.type === "NumericLiteral" ? String(node["value"]) : stringOf(node);
}

function stringOf(node: LuaNode): string | undefined {
  return node.type === "StringLiteral" ? String(node["value"]) : undefined;
}
