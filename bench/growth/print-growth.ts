// Tables and goals of the queues that grew.

import { printGoal, printTable, whole } from "../report.ts";
import { type Comparison, type Growth, ROUNDS, SIZES, SMALL } from "./one-queue.ts";
import { type Operation, OPERATIONS } from "./round.ts";

/** Most that an operation may take with the most tasks, against 1,000; and the longest call, ms. */
const MOST_RATIO = 1.5;
const LONGEST = 10;

const ratioOf = (found: Comparison | undefined, operation: Operation) =>
  found?.get(operation)?.ratio ?? Number.NaN;

function longestOf({ sizes, moving }: Growth, operation: Operation): number {
  const found = [...sizes.map(({ compared }) => compared), moving].map((one) => one.get(operation));
  return Math.max(...found.map((compared) => compared?.longest ?? 0)) / 1_000;
}

/** Prints the times of one state. */
export function printGrowth(growth: Growth): void {
  const { name, sizes, moving } = growth;
  const last = sizes.at(-1);
  console.log(`\n${name}: µs of Redis a call, and times as long with more tasks; medians of ${ROUNDS}\n`);
  printTable(
    [name, `${whole(SMALL)}, µs`, ...SIZES.map(whole), "while tables grow", "longest, ms"],
    [
      ...OPERATIONS.map((operation) => [
        operation,
        whole(last?.compared.get(operation)?.small ?? Number.NaN),
        ...sizes.map(({ compared }) => ratioOf(compared, operation).toFixed(2)),
        ratioOf(moving, operation).toFixed(2),
        longestOf(growth, operation).toFixed(1),
      ]),
      ["bytes a task", "", ...sizes.map(({ bytes }) => whole(bytes)), "", ""],
    ],
  );
}

/** Prints whether the times of all states are flat. */
export function printGoals(grown: readonly Growth[]): void {
  console.log();
  for (const growth of grown) {
    const last = growth.sizes.at(-1)?.compared;
    const ratios = OPERATIONS.map((operation) => ({ operation, ratio: ratioOf(last, operation) }));
    const steep = ratios.filter(({ ratio }) => ratio > MOST_RATIO);
    const shown = (steep.length > 0 ? steep : ratios.toSorted((a, b) => b.ratio - a.ratio).slice(0, 1))
      .map(({ operation, ratio }) => `${operation} ${ratio.toFixed(2)}×`)
      .join(", ");
    printGoal(`${growth.name}: times as long, the most`, shown, `≤ ${MOST_RATIO}×`, steep.length === 0);
  }
  const calls = grown.flatMap((growth) => OPERATIONS.map((operation) => longestOf(growth, operation)));
  const longest = Math.max(...calls);
  printGoal("longest call", `${longest.toFixed(1)} ms`, `≤ ${LONGEST} ms`, longest <= LONGEST);
}
