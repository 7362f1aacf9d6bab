// How fast the dashboard shows its data, and what a look at it costs, with 1,000 queues and 1,000,000 tasks:
// for each screen the time in Chromium and the commands that Upstash would bill. test/dashboard/commands.test.ts
// asserts the commands of a small store; docs/costs.md shows them.

import { Operator, Queue, Schedules, type Settlement } from "../src/index.ts";
import { resp } from "../src/transports/resp.ts";
import { startRedis } from "../test/support/redis.ts";
import { launchChromium, type Page } from "../test/dashboard/browser.ts";
import { deployDashboard, tokens } from "../tools/dashboard/deployment.ts";
import { costOfScreen, screensOf, watchReads } from "../test/dashboard/screens.ts";
import { median, payload, printGoal, printTable, quick, whole } from "./report.ts";

const QUEUES = quick ? 100 : 1_000;
const TASKS = quick ? 20_000 : 1_000_000;
const ROUNDS = quick ? 2 : 5;
const GROUPS = 100;

const redis = await startRedis();
const transport = resp(redis.url);
const options = { transport };
const name = "orders";
const queue = new Queue(name, { ...options, resultTtl: "1d" });

const range = (count: number) => Array.from({ length: count }, (_, i) => i);

async function enqueue(count: number, optionsOf: (number: number) => object): Promise<void> {
  for (let first = 0; first < count; first += 1_000) {
    const size = Math.min(1_000, count - first);
    await queue.enqueueMany(
      range(size).map((i) => ({ payload: payload(first + i), ...optionsOf(first + i) })),
    );
  }
}

type Outcome = Settlement extends infer One ? (One extends Settlement ? Omit<One, "receipt"> : never) : never;

/** Works on so many tasks: the outcome of each is that of its number. Without one it stays with its worker. */
async function work(count: number, outcomeOf: (number: number) => Outcome | undefined): Promise<void> {
  for (let first = 0; first < count; first += 1_000) {
    const batch = await queue.dequeue({
      max: 1_000,
      lease: "1d",
      worker: { name: `worker-${(first / 1_000) % 50}` },
    });
    const settlements = batch.flatMap(({ receipt }, i) => {
      const outcome = outcomeOf(first + i);
      return outcome === undefined ? [] : [{ receipt, ...outcome }];
    });
    await queue.settle(settlements);
  }
}

/** One queue with most tasks, in all states; the others have one each. */
async function fill(): Promise<void> {
  const each = TASKS / 5;
  const operator = new Operator(name, options);
  await operator.configure({ statistics: true });
  await enqueue(each, () => ({}));
  const error = Object.assign(new Error("503 from https://hooks.example.com/orders"), { name: "HttpError" });
  await work(each, (number) => ({
    outcome: "reject",
    error: number % 10 === 0 ? new Error("410 Gone") : error,
  }));
  await enqueue(each, () => ({}));
  await work(each, (number) =>
    number < each / 40 ? undefined : { outcome: "complete", result: { ok: true } },
  );
  await enqueue(each, (number) => ({ delay: 3_600_000 + number }));
  await enqueue(each, () => ({}));
  await enqueue(each - QUEUES, (number) => ({ group: `tenant-${number % GROUPS}` }));
  await queue.enqueue(payload(0), { id: "shown", headers: { trace: "00-4bf9" } });
  const schedules = new Schedules(name, options);
  for (const i of range(20)) await schedules.put(`schedule-${i}`, { cron: "0 7 * * *", payload: {} });
  for (const i of range(QUEUES - 1)) {
    const other = new Queue(`queue-${String(i).padStart(4, "0")}`, options);
    await other.enqueue(payload(i));
  }
}

interface Measured {
  readonly first: number;
  readonly refresh: number | undefined;
  readonly commands: number;
  readonly requests: number;
}

/** Refreshes the screen as if it came out of the background. Undefined if the screen does not refresh itself. */
async function refresh(page: Page): Promise<number | undefined> {
  const reads = watchReads(page);
  const start = performance.now();
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await page.waitForTimeout(100);
  await reads.settle();
  return reads.sent === 0 ? undefined : reads.endedAt - start;
}

console.error(`filling ${whole(QUEUES)} queues with ${whole(TASKS)} tasks`);
await fill();
const deployment = await deployDashboard(redis.url);
const browser = await launchChromium();
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
const { url, gateway } = deployment;
await context.request.post(`${url}/session`, {
  data: { token: tokens.admin },
  headers: { origin: new URL(url).origin },
});

const screens = screensOf({ queue: name, task: "shown", text: "410" });
const rows: string[][] = [];
let slowest = 0;
for (const screen of screens) {
  const measured: Measured[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const page = await context.newPage();
    const start = performance.now();
    const cost = await costOfScreen(page, `${url}#/${screen.place}`, screen, gateway);
    const first = cost.shownAt - start;
    const found = { ...cost, first, refresh: await refresh(page) };
    await page.close();
    // The first round warms up.
    if (round >= 0) measured.push(found);
  }
  const first = median(measured.map((one) => one.first));
  const again = median(measured.map((one) => one.refresh ?? Number.NaN));
  slowest = Math.max(slowest, first, Number.isNaN(again) ? 0 : again);
  const [one] = measured;
  rows.push([
    screen.name,
    whole(first),
    Number.isNaN(again) ? "–" : whole(again),
    whole(one?.requests ?? 0),
    whole(one?.commands ?? 0),
  ]);
}

console.log(`With ${whole(QUEUES)} queues and ${whole(TASKS)} tasks, medians of ${ROUNDS}\n`);
printTable(["screen", "first view, ms", "refresh, ms", "requests", "billed commands"], rows);
console.log();
printGoal("the slowest screen", `${whole(slowest)} ms`, "< 1,000 ms", slowest < 1_000);

await browser.close();
await deployment.close();
await transport.close();
await redis.stop();
