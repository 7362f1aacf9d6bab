// npm run test:stress: runs `npm test` alone, and then some times beside two busy loops for each core. Fails if a run fails,
// or takes more than four times as long as the one alone.

import { spawn, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { root } from "../../../tools/setup.mjs";
import { optional, readOptions, wholeNumber } from "../../support/options.ts";

const LOOPS_PER_CORE = 2;
const LONGEST = 4;
/** Ends with this process, however that ends. */
const LOOP = "const parent = process.ppid; while (process.ppid === parent) for (let i = 0; i < 1e8; i++);";

const { times = 5 } = readOptions(
  { script: "test:stress", does: "Runs npm test beside two busy loops for each core." },
  { times: optional("N", "that many times (5)", (given) => wholeNumber(given, 1, 99)) },
);

/** Runs the tests. Returns how long they took, s, and whether all passed. */
function runTests(what: string): { seconds: number; ok: boolean } {
  const start = performance.now();
  const test = [join(root, "tools/test.mjs"), "--reporter=dot"];
  const { status } = spawnSync(process.execPath, test, { stdio: "inherit" });
  const seconds = (performance.now() - start) / 1_000;
  console.log(`${what}: ${status === 0 ? "passed" : "FAILED"} in ${seconds.toFixed(0)} s`);
  return { seconds, ok: status === 0 };
}

const alone = runTests("alone");
const loops = Array.from({ length: LOOPS_PER_CORE * availableParallelism() }, () =>
  spawn(process.execPath, ["--eval", LOOP]),
);
try {
  const runs = Array.from({ length: times }, (_, i) =>
    runTests(`beside ${loops.length} busy loops, ${i + 1} of ${times}`),
  );
  const ratios = runs.map(({ seconds }) => seconds / alone.seconds);
  const passed = runs.filter(({ ok }) => ok).length;
  console.log(
    `${passed} of ${times} passed; they took ${ratios.map((ratio) => ratio.toFixed(1)).join(", ")} times as long`,
  );
  process.exitCode = alone.ok && passed === times && ratios.every((ratio) => ratio <= LONGEST) ? 0 : 1;
} finally {
  for (const loop of loops) loop.kill("SIGKILL");
}
