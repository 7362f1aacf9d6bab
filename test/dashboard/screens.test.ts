import { beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { screensOf } from "./screens.ts";
import { expectAccessible, looks, useDashboard } from "./rig.ts";
import { errorNamed, lease, makeDeadLetters } from "./work.ts";

const rig = useDashboard();
const names = { queue: "orders", task: "failing", text: "503" };
const bad = errorNamed("HttpError", "503 from https://hooks.example.com/orders");

/** A queue with something on each of its screens. */
beforeAll(async () => {
  const queue = rig.queue(names.queue);
  const operator = rig.operator(names.queue);
  await operator.configure({ statistics: true, maxWorking: 100 });
  await operator.configureGroup("acme", { maxWorking: 1, weight: 2 });
  await makeDeadLetters(queue, 55, bad);
  await queue.enqueue({ order: 1 }, { id: "done" });
  await (await lease(queue)).complete({ ok: true });
  await queue.enqueue({ order: 2 }, { id: "failing", headers: { trace: "00-4bf9" } });
  await (await lease(queue)).requeue({ error: bad, delay: "1h" });
  await queue.enqueueMany([
    { id: "held", payload: { order: 3 } },
    ...Array.from({ length: 3 }, (_, i) => ({ payload: { order: 4 + i }, group: "acme" })),
  ]);
  const working = await lease(queue, { name: "worker-1" });
  await working.extend("10m", { progress: { rows: 3 } });
  const daily = { cron: "0 7 * * *", timeZone: "Europe/Vienna", payload: {} };
  await rig.schedules(names.queue).put("daily", daily);
  await rig.queue("paused").enqueue({ order: 9 }, { id: "waiting" });
  await rig.operator("paused").pause();
});

/** Each dialog: where it is, its button, and what it waits for. */
const dialogs: readonly (readonly [
  place: string,
  button: string,
  wait?: (page: Page) => Promise<unknown>,
])[] = [
  ["queues/orders", "Enqueue…"],
  ["queues/orders", "Pause…"],
  ["queues/paused", "Resume…"],
  ["queues/orders", "Limits…"],
  ["queues/orders", "Go to… Ctrl K"],
  ["queues/orders/schedules", "New schedule…"],
  ["queues/orders/schedules", "Run now daily"],
  ["queues/orders/schedules", "Edit daily", (page) => page.getByLabel("Cron expression").waitFor()],
  ["queues/orders/workers", "Take back worker-1"],
  ["queues/orders/groups", "Pause acme"],
  ["queues/orders/groups", "Limits acme"],
  ["health", "Resume… paused"],
  ["queues/orders/dead", "Redrive all…", (page) => page.getByText("has found 55 dead letters").waitFor()],
  ["queues/orders/dead", "Purge all…"],
  ["queues/orders/tasks/failing", "Cancel…"],
  ["queues/orders/tasks/failing", "Enqueue again…"],
  ["queues/orders/tasks/done", "Remove…"],
];

describe.each(Object.entries(looks))("in %s", (_, look) => {
  test("axe finds nothing on any screen, and none scrolls sideways", async () => {
    const { page, go } = await rig.visit(look);
    for (const { name, place, shown } of screensOf(names)) {
      await go(place);
      await shown(page).first().waitFor();
      for (const box of await page.getByLabel("All on this page").all()) await box.check();
      for (const details of await page.locator("summary").all()) await details.click();
      await expectAccessible(page, name);
    }
    await go("queues/orders/nothing");
    await page.getByText("There is no such page.").waitFor();
    await expectAccessible(page, "a page that does not exist");
  });

  test("axe finds nothing in any dialog", async () => {
    const { page, go } = await rig.visit(look);
    for (const [place, name, wait] of dialogs) {
      await go("costs");
      await go(place);
      await page.getByRole("button", { name, exact: true }).click();
      await page.getByRole("dialog").waitFor();
      await wait?.(page);
      await expectAccessible(page, `the dialog ${name}`);
      const box = await page.getByRole("dialog").boundingBox();
      expect(box?.width).toBeLessThanOrEqual(look.viewport.width);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });
});
