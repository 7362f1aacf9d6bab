// The longest call of each script: Redis runs one script at a time, and all other clients wait. Each case
// prepares a queue, runs operations with their largest arguments, one request at a time, and measures how
// long each keeps Redis busy: by SLOWLOG, which includes time that other programs take from Redis, and by
// Redis's processor time of the request (Linux). The quickest of several rounds counts. As machines differ, the
// goals are multiples of a plain enqueue of 1,000 tasks, which runs between the rounds. Words select cases:
// `npm run bench:longest -- purge`.

import { readFileSync } from "node:fs";
import { createClient } from "@redis/client";
import type { Command, Transport } from "../src/index.ts";
import { resp } from "../src/transports/resp.ts";
import { linkedScripts } from "../src/lua/linked.gen.ts";
import { scripts } from "../test/support/bindings.ts";
import { startRedis } from "../test/support/redis.ts";
import { operating, pages } from "./longest/operating.ts";
import { repair } from "./longest/repair.ts";
import { flowCases, workOnFlows } from "./longest/flows.ts";
import { Bench, type Case } from "./longest/bench.ts";
import { plainEnqueue, tasks } from "./longest/tasks.ts";
import { largestSweep, upkeep } from "./longest/upkeep.ts";
import { printGoal, printTable, quick, words } from "./report.ts";

/** What a call may take, in plain enqueues of 1,000: one of the size that the library chooses, and a caller's. */
const GOALS = { library: 2, caller: 4 };
const CASES = {
  library: { ...upkeep, ...operating, ...repair, ...flowCases },
  caller: { ...tasks, ...pages, ...largestSweep, ...workOnFlows },
};
const ROUNDS = quick ? 1 : 5;

const redis = await startRedis({ args: ["--slowlog-log-slower-than", "0", "--slowlog-max-len", "1000000"] });
const control = await createClient({ url: redis.url, RESP: 2 }).connect();
const pid = /process_id:(\d+)/.exec(await control.info("server"))?.[1] ?? "";
const connection = resp(redis.url);
const linked = await Promise.all(Object.values(linkedScripts).map((load) => load()));
const names = new Map([...scripts, ...linked].map(({ name, sha1 }) => [sha1, name]));

/** Processor time of Redis's main thread, ms; NaN if the system has no `/proc`. */
function processorTime(): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

interface Longest {
  calls: number;
  /** By SLOWLOG and by the processor, ms. */
  slow: number;
  busy: number;
}

type Found = Map<string, Longest>;

function note(found: Found, name: string, { calls, slow, busy }: Longest): void {
  const known = found.get(name) ?? { calls: 0, slow: 0, busy: 0 };
  found.set(name, {
    calls: known.calls + calls,
    slow: Math.max(known.slow, slow),
    busy: Math.max(known.busy, busy),
  });
}

const nameOf = (command: Command | undefined) =>
  command === undefined ? "" : "script" in command ? command.script.name : command[0].toLowerCase();

/** One round of a case: for each script the longest of its calls. */
async function round(run: Case): Promise<Found> {
  const found: Found = new Map();
  let noting = false;
  const transport: Transport = {
    async send(commands, options) {
      const before = processorTime();
      const outcomes = await connection.send(commands, options);
      // In front of an enqueue goes a `register` of its queue.
      if (noting) note(found, nameOf(commands.at(-1)), { calls: 1, slow: 0, busy: processorTime() - before });
      return outcomes;
    },
  };
  await control.flushAll();
  const act = await run(new Bench(transport, quick ? 2_000 : 20_000));
  await control.sendCommand(["SLOWLOG", "RESET"]);
  noting = true;
  await act();
  const log = (await control.sendCommand(["SLOWLOG", "GET", "-1"])) as unknown as [
    id: number,
    at: number,
    micros: number,
    command: string[],
  ][];
  for (const [, , micros, [command = "", sha1 = ""]] of log) {
    const name = command.toLowerCase() === "evalsha" ? (names.get(sha1) ?? "") : command.toLowerCase();
    // The commands inside a script are logged too, before it.
    if (found.has(name)) note(found, name, { calls: 0, slow: micros / 1_000, busy: 0 });
  }
  return found;
}

interface Row extends Longest {
  case: string;
  script: string;
  size: keyof typeof GOALS;
}

const time = ({ slow, busy }: Longest) => (Number.isNaN(busy) ? slow : Math.min(slow, busy));
const plain: number[] = [];

/** Runs a plain enqueue, by which the others are measured. */
async function roundOfPlain(): Promise<void> {
  const found = await round(plainEnqueue);
  plain.push(...Array.from(found.values(), time));
}

async function rowsOf(name: string, run: Case, size: Row["size"]): Promise<Row[]> {
  // Loads the scripts.
  await round(run);
  const quickest: Found = new Map();
  for (let i = 0; i < ROUNDS; i++) {
    await roundOfPlain();
    for (const [script, { calls, slow, busy }] of await round(run)) {
      const known = quickest.get(script) ?? { calls, slow, busy };
      quickest.set(script, { calls, slow: Math.min(known.slow, slow), busy: Math.min(known.busy, busy) });
    }
  }
  return Array.from(quickest, ([script, longest]) => ({ case: name, script, size, ...longest }));
}

const rows: Row[] = [];
await round(plainEnqueue);
for (const size of ["library", "caller"] as const) {
  for (const [name, run] of Object.entries(CASES[size])) {
    if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
    rows.push(...(await rowsOf(name, run, size)));
  }
}

const unit = Math.min(...plain);
const longestFirst = rows.toSorted((a, b) => time(b) - time(a));
const columns = (row: Row) => [
  String(row.calls),
  row.slow.toFixed(1),
  row.busy.toFixed(1),
  `${(time(row) / unit).toFixed(1)}×`,
];
const head = ["calls", "SLOWLOG, ms", "processor, ms", "enqueues"];
console.log(`The longest call of each script; a plain enqueue of 1,000 takes ${unit.toFixed(1)} ms\n`);
printTable(
  ["script", "case", ...head],
  [...new Map(longestFirst.toReversed().map((row) => [row.script, row])).values()]
    .toSorted((a, b) => time(b) - time(a))
    .map((row) => [row.script, row.case, ...columns(row)]),
);
console.log("\nAll calls of a millisecond and more\n");
printTable(
  ["case", "script", ...head],
  longestFirst.filter((row) => time(row) >= 1).map((row) => [row.case, row.script, ...columns(row)]),
);
console.log();
for (const [size, what] of [
  ["library", "longest call of the library's own size"],
  ["caller", "longest call of a caller's largest size"],
] as const) {
  const longest = longestFirst.find((row) => row.size === size);
  if (!longest) continue;
  const ratio = time(longest) / unit;
  const figure = `${time(longest).toFixed(1)} ms, ${ratio.toFixed(1)}× a plain enqueue of 1,000`;
  printGoal(what, figure, `≤ ${GOALS[size]}×`, ratio <= GOALS[size]);
}

await connection.close();
control.destroy();
await redis.stop();
