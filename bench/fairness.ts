// How long a small group waits behind a large one: deliveries until the last of its ten tasks, with groups
// and in one line. Counted, not timed, so every machine gives the same figures. Writes notes/fairness.svg.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Queue } from "../src/index.ts";
import { resp } from "../src/transports/resp.ts";
import { startRedis } from "../test/support/redis.ts";
import { printGoal, printTable, quick, whole } from "./report.ts";

const LARGE = quick ? [10, 100, 1_000] : [10, 100, 1_000, 10_000, 100_000];
const SMALL = 10;
const FLOOD = 50;

const redis = await startRedis();
const transport = resp(redis.url);

async function fill(queue: Queue, group: string | undefined, count: number): Promise<void> {
  for (let first = 0; first < count; first += 1_000) {
    const size = Math.min(1_000, count - first);
    await queue.enqueueMany(Array.from({ length: size }, () => ({ payload: 0, group, resultTtl: 0 })));
  }
}

/** Deliveries one by one until the last of the marked tasks. */
async function deliveriesUntil(queue: Queue, marked: ReadonlySet<string>): Promise<number> {
  let left = marked.size;
  for (let delivered = 1; ; delivered++) {
    const [task] = await queue.dequeue({ max: 1 });
    if (!task) throw new Error("the queue ran dry");
    if (marked.has(task.id) && --left === 0) return delivered;
  }
}

async function small(queue: Queue, group: string | undefined): Promise<ReadonlySet<string>> {
  const added = await queue.enqueueMany(Array.from({ length: SMALL }, () => ({ payload: 1, group })));
  return new Set(added.map(({ id }) => id));
}

let queues = 0;
const newQueue = () => new Queue(`fairness-${++queues}`, { transport });

/** Behind one large group, or in one line with its tasks. */
async function behind(count: number, grouped: boolean): Promise<number> {
  const queue = newQueue();
  await fill(queue, grouped ? "large" : undefined, count);
  return deliveriesUntil(queue, await small(queue, grouped ? "small" : undefined));
}

/** Beside one large group and a flood of groups of one task each, all of which came before. */
async function amongFlood(count: number): Promise<number> {
  const queue = newQueue();
  await fill(queue, "large", count);
  await queue.enqueueMany(
    Array.from({ length: FLOOD }, (_, i) => ({ payload: 0, group: `one-${i}`, resultTtl: 0 })),
  );
  return deliveriesUntil(queue, await small(queue, "small"));
}

const rows: { count: number; line: number; groups: number; flood: number }[] = [];
for (const count of LARGE) {
  rows.push({
    count,
    line: await behind(count, false),
    groups: await behind(count, true),
    flood: await amongFlood(count),
  });
}
await transport.close();
await redis.stop();

console.log(`deliveries until the last of ${SMALL} tasks of a small group\n`);
printTable(
  ["tasks of the large group before them", "one line", "groups", `and ${FLOOD} groups of one task`],
  rows.map(({ count, line, groups, flood }) => [count, line, groups, flood].map(whole)),
);
const worst = Math.max(...rows.map(({ groups }) => groups));
console.log();
printGoal("behind one large group", `${worst} deliveries`, `≤ ${2 * SMALL}`, worst <= 2 * SMALL);

const path = fileURLToPath(new URL("../notes/fairness.svg", import.meta.url));
if (!quick) writeFileSync(path, plot());

/** Both axes logarithmic. */
function plot(): string {
  const width = 720;
  const right = width - 170;
  const height = 360;
  const left = 84;
  const bottom = height - 52;
  const x = (count: number) => left + ((Math.log10(count) - 1) / 4) * (right - left);
  const y = (deliveries: number) => bottom - ((Math.log10(deliveries) - 1) / 4.1) * (bottom - 24);
  const series = [
    { name: "one line", color: "#b3261e", of: (row: (typeof rows)[number]) => row.line },
    { name: `+ ${FLOOD} one-task groups`, color: "#8a6d00", of: (row: (typeof rows)[number]) => row.flood },
    { name: "groups", color: "#00658a", of: (row: (typeof rows)[number]) => row.groups },
  ];
  const decades = [10, 100, 1_000, 10_000, 100_000];
  const grid = decades.flatMap((value) => [
    `<path d="M${left} ${y(value).toFixed(1)}H${right}" stroke="#ddd"/>`,
    `<text x="${left - 8}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${whole(value)}</text>`,
    `<text x="${x(value).toFixed(1)}" y="${bottom + 18}" text-anchor="middle">${whole(value)}</text>`,
  ]);
  const lines = series.flatMap(({ name, color, of }) => {
    const points = rows.map((row) => `${x(row.count).toFixed(1)},${y(of(row)).toFixed(1)}`);
    const last = points.at(-1)?.split(",") ?? [];
    return [
      `<polyline points="${points.join(" ")}" fill="none" stroke="${color}" stroke-width="2"/>`,
      ...points.map((point) => `<circle cx="${point.replace(",", '" cy="')}" r="3" fill="${color}"/>`),
      `<text x="${Number(last[0]) + 8}" y="${Number(last[1]) + 4}" fill="${color}">${name}</text>`,
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...grid,
    ...lines,
    `<text x="${(left + right) / 2}" y="${height - 10}" text-anchor="middle">tasks of the large group, enqueued before</text>`,
    `<text x="16" y="${bottom / 2}" text-anchor="middle" transform="rotate(-90 16 ${bottom / 2})">deliveries until the small group is done</text>`,
    "</svg>",
    "",
  ].join("\n");
}
