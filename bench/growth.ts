// What changes if a queue grows to 10,000,000 tasks. `--only` runs one part. Words select states: `npm run
// bench:growth -- --only queue pending`.

import { type Growth, grow } from "./growth/one-queue.ts";
import { printGoals, printGrowth } from "./growth/print-growth.ts";
import { STATES } from "./growth/states.ts";
import { only, words } from "./report.ts";

async function growQueues(): Promise<void> {
  const grown: Growth[] = [];
  for (const state of STATES) {
    if (words.length > 0 && !words.some((word) => state.name.includes(word))) continue;
    const growth = await grow(state);
    printGrowth(growth);
    grown.push(growth);
  }
  printGoals(grown);
}

const parts: Readonly<Record<string, () => Promise<void>>> = { queue: growQueues };
if (only !== undefined && !(only in parts)) {
  throw new Error(`--only must be one of ${Object.keys(parts).join(", ")}`);
}
for (const [name, run] of Object.entries(parts)) {
  if (only === undefined || only === name) await run();
}
