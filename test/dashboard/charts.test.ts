import { expect, test } from "vitest";
import type { Overviews } from "../../src/dashboard/page/api/types.ts";
import { press, useDashboard } from "./rig.ts";
import { watchReads } from "./screens.ts";
import { lease } from "./work.ts";

const rig = useDashboard();

test("counts stay readable when one burst dwarfs them: it is cut, and the page says so", async () => {
  const queue = rig.queue(rig.name("emails"));
  await rig.operator(queue.name).configure({ statistics: true });
  const { page, go } = await rig.visit();
  const usual = Array.from({ length: 60 }, (_, i) => 10 + (i % 3));
  const series = {
    enqueued: usual.with(30, 40_000),
    dequeued: usual,
    completed: usual,
    failed: usual.map((_, i) => (i === 7 ? 2 : 0)),
  };
  await page.route("**/overview?*", async (route) => {
    const response = await route.fetch();
    const reply = (await response.json()) as Overviews;
    const queues = reply.queues.map((one) =>
      "code" in one ? one : { ...one, statistics: { ...one.statistics, series } },
    );
    await route.fulfill({ response, json: { ...reply, queues } });
  });
  await go(`queues/${queue.name}`);
  const strips = page.locator(".strip");
  await strips.first().waitFor();
  /** The heights of the bars of a series, of 48. */
  const heightsOf = async (at: number) => {
    const d = (await strips.nth(at).locator("path:not(.grid):not(.cut)").getAttribute("d")) ?? "";
    return Array.from(d.matchAll(/V([\d.]+)h/g), ([, top]) => 48 - Number(top));
  };
  for (const at of [0, 1]) {
    const heights = await heightsOf(at);
    expect(heights).toHaveLength(60);
    // A usual minute is seen.
    expect(Math.min(...heights)).toBeGreaterThan(15);
    expect(Math.max(...heights)).toBe(48);
  }
  expect(await heightsOf(2)).toEqual([48]);
  expect(await strips.nth(0).getByRole("img").getAttribute("aria-label")).toMatch(
    /^enqueued: 40,650 in the last hour, in a minute most 40,000 at .+, cut at 24$/,
  );
  expect(await strips.nth(1).textContent()).not.toContain("cut");
  // All numbers are in the table.
  await page.getByText("Numbers as a table").click();
  const table = page.getByRole("region", { name: "Tasks a minute" });
  expect(await table.getByRole("row").count()).toBe(61);
  await table.getByRole("cell", { name: "40,000" }).waitFor();
});

test("the last 24 hours are shown beside the hour, and read seldom", async () => {
  const queue = rig.queue(rig.name("emails"));
  await rig.operator(queue.name).configure({ statistics: true });
  await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  await (await lease(queue)).complete();
  const { page, go } = await rig.visit({ withClock: true });
  const reads = watchReads(page, (url) => url.includes("/statistics?history=true"));
  await go(`queues/${queue.name}`);
  await press(page, "24 hours");
  const enqueued = page.getByRole("img", {
    name: /^enqueued: 2 in the last 24 hours, in 5 minutes most 2 at /,
  });
  await enqueued.waitFor();
  await page.getByRole("img", { name: /^completed: 1 in the last 24 hours/ }).waitFor();
  for (let refresh = 0; refresh < 5; refresh++) {
    await page.clock.fastForward(10_000);
    await page.waitForTimeout(50);
  }
  expect(reads.sent).toBe(1);
  // The browser keeps the choice.
  await page.reload();
  await enqueued.waitFor();
  await press(page, "Hour");
  await page.getByRole("img", { name: /^enqueued: 2 in the last hour/ }).waitFor();
});

test("the time within which tasks start counts those that still wait", async () => {
  const name = rig.name("emails");
  await rig.operator(name).configure({ statistics: true });
  const early = rig.queue(name, { now: () => Date.now() - 1_200_000 });
  await early.enqueueMany(Array.from({ length: 20 }, (_, payload) => ({ payload })));
  const { page } = await rig.visit({ at: `queues/${name}` });
  const start = page.locator(".tile").filter({ hasText: "95% start within" }).locator("dd");
  await expect.poll(() => start.textContent()).toMatch(/^1\dm/);
  // They waited for 20 minutes: the bounds of their class are at 1,000 and 3,000 seconds.
  await rig.queue(name).dequeue({ max: 20 });
  await page.reload();
  await expect.poll(() => start.textContent()).toBe("50m");
});
