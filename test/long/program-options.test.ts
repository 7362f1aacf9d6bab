import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "vitest";

const programs = {
  "test:soak": "proofs/model/soak.ts",
  "test:chaos": "long/chaos/main.ts",
  "test:fuzz": "long/fuzz/main.ts",
  "test:mutants": "long/mutants/main.ts",
  "test:near": "near/main.ts",
} as const;

type Script = keyof typeof programs;

async function run(script: Script, ...given: readonly string[]) {
  const program = resolve(import.meta.dirname, "..", programs[script]);
  const child = spawn(process.execPath, [program, ...given], { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit") as Promise<[number]>,
  ]);
  return { status, out, err };
}

const kinds =
  "0 (a plain queue), 1 (a queue that wakes its consumers), 2 (a queue of groups and priorities), " +
  "3 (a queue with schedules), 4 (a queue with partitions)";

/** The error of each program for a wrong command line. */
const wrong: readonly (readonly [Script, readonly string[], string])[] = [
  ["test:soak", ["--seed", "banana"], '--seed must be a whole number from 0 to 2147483647, not "banana"'],
  [
    "test:soak",
    ["--kind", "queue"],
    `--kind must be one of ${kinds}, by number or by a word that only its name has, not "queue"`,
  ],
  ["test:soak", ["--kind", "plain", "--path", "0:1"], "--path goes with --seed and --kind"],
  ["test:chaos", ["--minutes", "0"], '--minutes must be a number above 0, not "0"'],
  ["test:chaos", ["--speed", "3"], "unknown option '--speed'"],
  ["test:fuzz", ["500"], "too many arguments. Expected 0 arguments but got 1."],
  ["test:fuzz", ["--seed"], "option '--seed <N>' argument missing"],
  [
    "test:mutants",
    ["--only", "no such fault"],
    "--only no such fault fits none of the faults; --list alone lists them",
  ],
  ["test:mutants", ["--only", "("], '--only must be a regular expression, not "("'],
  ["test:near", ["--base", "no-such-revision"], "--base no-such-revision: git does not know this revision"],
  ["test:mutants", ["--shard", "5/4"], '--shard must be such as 1/4, not "5/4"'],
];

describe.concurrent("the long-running test programs", () => {
  it.for(wrong)(
    "%s refuses %j with one line and status 2: %s",
    async ([script, given, message], { expect }) => {
      const err = `${script}: ${message} (npm run ${script} -- --help lists the options)\n`;
      expect(await run(script, ...given)).toEqual({ status: 2, out: "", err });
    },
  );

  it.for([
    ["test:soak", ["minutes", "seed", "kind", "path"]],
    ["test:chaos", ["minutes", "seed", "cluster", "partitions"]],
    ["test:fuzz", ["minutes", "requests", "seed"]],
    ["test:mutants", ["only", "generated", "seed", "shard", "jobs", "near", "list"]],
    ["test:near", ["base", "list"]],
  ] as const)("%s --help lists %j and begins nothing", async ([script, options], { expect }) => {
    const { status, out, err } = await run(script, "--help");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toMatch(new RegExp(`^Usage: npm run ${script} -- \\[options\\]\n`));
    expect(Array.from(out.matchAll(/^ {2}--(\w+) /gm), ([, name]) => name)).toEqual([...options, "help"]);
  });

  it("test:mutants --list lists the mutants that match --only", async ({ expect }) => {
    const { status, out, err } = await run("test:mutants", "--list", "--only", "lua/kernel/settle");
    expect({ status, err }).toEqual({ status: 0, err: "" });
    expect(out).toMatch(/^(?:[^\n]*lua\/tasks\/settle[^\n]*\n)+$/);
  });
});
