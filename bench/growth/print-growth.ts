// Tables and goals of the queues that grew.

import { printGoal, printTable, whole } from "../report.ts";
import { type Comparison, type Growth, ROUNDS, SIZES, SMALL } from "./one-queue.ts";
import { type Operation, OPERATIONS } from "./round.ts";

/** Most that an operation may take with the most tasks, against 1,000; and the longest call, ms. */
const MOST_RATIO = 1.5;
const LONGEST = 10;

const ratioOf = (found: Comparison | undefined, operation: Operation) =>
  found?.get(operation)?.ratio ?? Number.NaN;

const operationsOf = ({ moving }: Growth) => OPERATIONS.filter((operation) => moving.has(operation));

/** A ratio; a dash if the operation was not measured. */
const shown = (ratio: number) => (Number.isNaN(ratio) ? "–" : ratio.toFixed(2));

function longestOf({ sizes, moving }: Growth, operation: Operation): number {
  const found = [...sizes.map(({ compared }) => compared), moving].map((one) => one.get(operation));
  return Math.max(...found.map((compared) => compared?.longest ?? 0)) / 1_000;
}

const longestOfAll = (growth: Growth) =>
  Math.max(...operationsOf(growth).map((operation) => longestOf(growth, operation)));

/** Prints the times of one state. */
export function printGrowth(growth: Growth): void {
  const { name, sizes, moving } = growth;
  const last = sizes.at(-1);
  console.log(`\n${name}: µs of Redis a call, and times as long with more tasks; medians of ${ROUNDS}\n`);
  printTable(
    [name, `${whole(SMALL)}, µs`, ...SIZES.map(whole), "while tables grow", "longest, ms"],
    [
      ...operationsOf(growth).map((operation) => [
        operation,
        whole(last?.compared.get(operation)?.small ?? Number.NaN),
        ...sizes.map(({ compared }) => shown(ratioOf(compared, operation))),
        shown(ratioOf(moving, operation)),
        longestOf(growth, operation).toFixed(1),
      ]),
      ["bytes a task", "", ...sizes.map(({ bytes }) => whole(bytes)), "", ""],
    ],
  );
}

/** Prints the ratios of all states with the most tasks. */
export function printSummary(grown: readonly Growth[]): void {
  const most = whole(SIZES.at(-1) ?? 0);
  const cells = (of: (growth: Growth) => string) => grown.map(of);
  const worst = (growth: Growth) =>
    Math.max(...operationsOf(growth).map((operation) => ratioOf(growth.moving, operation)));
  console.log(`\ntimes as long with ${most} tasks as with ${whole(SMALL)}\n`);
  printTable(
    ["", ...cells(({ name }) => name)],
    [
      ...OPERATIONS.map((operation) => [
        operation,
        ...cells(({ sizes }) => shown(ratioOf(sizes.at(-1)?.compared, operation))),
      ]),
      ["the most of these while tables grow", ...cells((growth) => worst(growth).toFixed(2))],
      ["the longest call, ms", ...cells((growth) => longestOfAll(growth).toFixed(1))],
      ["bytes a task", ...cells(({ sizes }) => whole(sizes.at(-1)?.bytes ?? Number.NaN))],
    ],
  );
}

/** Prints whether the times of all states are flat. */
export function printGoals(grown: readonly Growth[]): void {
  console.log();
  for (const growth of grown) {
    const last = growth.sizes.at(-1)?.compared;
    const ratios = operationsOf(growth).map((operation) => ({ operation, ratio: ratioOf(last, operation) }));
    const steep = ratios.filter(({ ratio }) => ratio > MOST_RATIO);
    const most = (steep.length > 0 ? steep : ratios.toSorted((a, b) => b.ratio - a.ratio).slice(0, 1))
      .map(({ operation, ratio }) => `${operation} ${ratio.toFixed(2)}×`)
      .join(", ");
    printGoal(`${growth.name}: times as long, the most`, most, `≤ ${MOST_RATIO}×`, steep.length === 0);
  }
  const longest = Math.max(...grown.map(longestOfAll));
  printGoal("longest call", `${longest.toFixed(1)} ms`, `≤ ${LONGEST} ms`, longest <= LONGEST);
}
