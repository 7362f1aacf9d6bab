import { expect, onTestFinished, test, vi } from "vitest";
import { costOfScreen, type Screen, screensOf } from "./screens.ts";
import { useDashboard } from "./rig.ts";
import { errorNamed, lease, makeDeadLetters } from "./work.ts";

const rig = useDashboard();

/** Of the queue that has tasks in each state, with and without groups; and of each other queue. */
const OVERVIEW = 14;
const SMALL_OVERVIEW = 11;
const NAMES = 3;
const OTHERS = 24;

/** What is wrong with that queue, and with all of them. Both are read once a minute. */
const FINDINGS = 39;
const ALL_FINDINGS = 639;

/** All of its tasks, and the only one of each other queue. */
const SEARCH = 428;
const QUEUE = OVERVIEW + FINDINGS;

/** Billed commands of each screen, as docs/costs.md shows them. */
const COMMANDS = {
  queues: NAMES + OVERVIEW + OTHERS * SMALL_OVERVIEW + ALL_FINDINGS,
  "queues, most pending first": NAMES + OVERVIEW + OTHERS * SMALL_OVERVIEW + ALL_FINDINGS,
  "a queue: pending tasks": QUEUE + 10,
  "a queue: delayed tasks": QUEUE + 5,
  "a queue: working tasks": QUEUE + 5,
  "a queue: completed tasks": QUEUE + 10,
  "a queue: dead tasks": QUEUE + 6 + 6,
  "a queue: dead letters with a text": QUEUE + 6 + 6,
  "a queue: schedules": QUEUE + 3,
  "a queue: workers": QUEUE + 4 + 1 + 2,
  "a queue: groups": QUEUE + 4,
  "a task": 3,
  health: ALL_FINDINGS,
  search: SEARCH,
  costs: NAMES + OVERVIEW + OTHERS * SMALL_OVERVIEW,
};

test("each screen costs the commands that the documentation says", async () => {
  const queue = rig.queue("orders");
  await rig.operator("orders").configure({ statistics: true });
  await makeDeadLetters(queue, 60, errorNamed("HttpError", "503"));
  const [plain, delayed] = [{ payload: {} }, { payload: {}, delay: "1h" as const }];
  await queue.enqueueMany([plain, plain, { id: "shown", payload: {} }, delayed]);
  await (await lease(queue)).complete();
  await lease(queue, { name: "worker-1" });
  await queue.enqueueMany([plain, plain]);
  await queue.enqueueMany(["acme", "globex"].map((group) => ({ payload: {}, group })));
  await rig.schedules("orders").put("daily", { cron: "0 7 * * *", payload: {} });
  for (let i = 0; i < OTHERS; i++) await rig.queue(`queue-${i}`).enqueue({});

  const { context } = await rig.visit();
  // On a slow machine the page would refresh itself before all of it is shown.
  await context.addInitScript(() => localStorage.setItem("sluice live", "0"));
  const { url, gateway } = rig.deployment;
  const costs: Record<string, number> = {};
  const screens = screensOf({ queue: "orders", task: "shown", text: "503" });
  const look = async (screen: Screen) => {
    const page = await context.newPage();
    const { commands } = await costOfScreen(page, `${url}#/${screen.place}`, screen, gateway);
    await page.close();
    return commands;
  };
  // By the clock of the server no minute passes, after which it notes again which queues are in use.
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  // The first look loads the scripts.
  for (const screen of screens) await look(screen);
  for (const screen of screens) costs[screen.name] = await look(screen);
  expect(costs).toEqual(COMMANDS);

  // Whether a queue has partitions is not read.
  vi.setSystemTime(Date.now() + 61_000);
  const task = screens.find(({ name }) => name === "a task")!;
  expect(await look(task)).toBe(COMMANDS["a task"]);
});
