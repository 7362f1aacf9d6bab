// The longest call of each script: Redis runs one script at a time, and all other clients wait. Each case
// prepares a queue, runs operations with their largest arguments, one request at a time, and measures how
// long each keeps Redis busy: by SLOWLOG, which includes time that other programs take from Redis, and by
// Redis's processor time (Linux). The quickest of several rounds counts. Words select cases: `npm run
// bench:longest -- purge`.

import { readFileSync } from "node:fs";
import { createClient } from "@redis/client";
import type { Command, Transport } from "../src/index.ts";
import { resp } from "../src/transports/resp.ts";
import { scripts } from "../test/support/bindings.ts";
import { startRedis } from "../test/support/redis.ts";
import { operating } from "./longest/operating.ts";
import { repair } from "./longest/repair.ts";
import { Bench, type Case } from "./longest/bench.ts";
import { tasks } from "./longest/tasks.ts";
import { upkeep } from "./longest/upkeep.ts";
import { printGoal, printTable, quick, words } from "./report.ts";

/** Longest call that is allowed, ms. */
const GOAL = 10;
const ROUNDS = quick ? 1 : 5;

const redis = await startRedis({ args: ["--slowlog-log-slower-than", "0", "--slowlog-max-len", "1000000"] });
const control = await createClient({ url: redis.url, RESP: 2 }).connect();
const pid = /process_id:(\d+)/.exec(await control.info("server"))?.[1] ?? "";
const connection = resp(redis.url);
const names = new Map(scripts.map(({ name, sha1 }) => [sha1, name]));

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

const rows: ({ case: string; script: string } & Longest)[] = [];
for (const [name, run] of Object.entries({ ...tasks, ...upkeep, ...operating, ...repair })) {
  if (words.length > 0 && !words.some((word) => name.includes(word))) continue;
  // Loads the scripts.
  await round(run);
  const quickest: Found = new Map();
  for (let i = 0; i < ROUNDS; i++) {
    for (const [script, { calls, slow, busy }] of await round(run)) {
      const known = quickest.get(script) ?? { calls, slow, busy };
      quickest.set(script, { calls, slow: Math.min(known.slow, slow), busy: Math.min(known.busy, busy) });
    }
  }
  for (const [script, longest] of quickest) rows.push({ case: name, script, ...longest });
}

const time = ({ slow, busy }: Longest) => (Number.isNaN(busy) ? slow : Math.min(slow, busy));
const longestFirst = rows.toSorted((a, b) => time(b) - time(a));
const columns = (row: Longest) => [String(row.calls), row.slow.toFixed(1), row.busy.toFixed(1)];
console.log("The longest call of each script\n");
printTable(
  ["script", "case", "calls", "SLOWLOG, ms", "processor, ms"],
  [...new Map(longestFirst.toReversed().map((row) => [row.script, row])).values()]
    .toSorted((a, b) => time(b) - time(a))
    .map((row) => [row.script, row.case, ...columns(row)]),
);
console.log("\nAll calls of a millisecond and more\n");
printTable(
  ["case", "script", "calls", "SLOWLOG, ms", "processor, ms"],
  longestFirst.filter((row) => time(row) >= 1).map((row) => [row.case, row.script, ...columns(row)]),
);
console.log();
const longest = longestFirst[0] ? time(longestFirst[0]) : Number.NaN;
printGoal("longest call", `${longest.toFixed(1)} ms`, `≤ ${GOAL} ms`, longest <= GOAL);

await connection.close();
control.destroy();
await redis.stop();
