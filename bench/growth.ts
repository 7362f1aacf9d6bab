// What changes if a queue grows to 10,000,000 tasks, and if a cluster grows to 6 masters. Words select states,
// and `--only` one part: `npm run bench:growth -- --only queue pending`. The part with all states writes
// notes/growth.svg.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compareClusters } from "./growth/cluster.ts";
import { type Growth, grow } from "./growth/one-queue.ts";
import { plot } from "./growth/plot.ts";
import { printGoals, printGrowth, printSummary } from "./growth/print-growth.ts";
import { STATES } from "./growth/states.ts";
import { only, quick, words } from "./report.ts";

async function growQueues(): Promise<void> {
  const grown: Growth[] = [];
  for (const state of STATES) {
    if (words.length > 0 && !words.some((word) => state.name.includes(word))) continue;
    const growth = await grow(state);
    printGrowth(growth);
    grown.push(growth);
  }
  printSummary(grown);
  printGoals(grown);
  if (!quick && words.length === 0) {
    writeFileSync(fileURLToPath(new URL("../notes/growth.svg", import.meta.url)), plot(grown));
  }
}

const parts: Readonly<Record<string, () => Promise<void>>> = {
  queue: growQueues,
  cluster: compareClusters,
};
if (only !== undefined && !(only in parts)) {
  throw new Error(`--only must be one of ${Object.keys(parts).join(", ")}`);
}
for (const [name, run] of Object.entries(parts)) {
  if (only === undefined || only === name) await run();
}
