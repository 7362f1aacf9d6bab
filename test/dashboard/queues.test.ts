import { expect, test } from "vitest";
import type { Locator, Page } from "playwright-core";
import { watchReads } from "./screens.ts";
import { useDashboard } from "./rig.ts";

const rig = useDashboard();

/** The names of the queues in the table, in its order. */
const shown = (page: Page) => page.getByRole("row").getByRole("link").allTextContents();

/** Queues with that many pending tasks. Returns their names. */
async function fill(start: string, counts: readonly number[]): Promise<string[]> {
  const names = counts.map((_, i) => `${start}-${i}`);
  for (const [i, name] of names.entries()) {
    await rig.queue(name).enqueueMany(Array.from({ length: counts[i] ?? 0 }, () => ({ payload: i })));
  }
  return names;
}

test("typing in the filter by name costs no request for each key", async () => {
  await fill("alpha", [1, 3, 2]);
  await fill("beta", [5, 4]);
  const { page, go } = await rig.visit();
  const reads = watchReads(page);
  const name = page.getByRole("searchbox", { name: "Name" });
  const sent = async (change: () => Promise<unknown>) => {
    const before = reads.sent;
    await change();
    // The page waits until nothing was typed for a moment.
    await page.waitForTimeout(1_000);
    await expect.poll(() => reads.open).toBe(0);
    return reads.sent - before;
  };
  await go("?order=pending");
  await page.getByRole("table").waitFor();
  await expect.poll(() => shown(page)).toEqual(["beta-0", "beta-1", "alpha-1", "alpha-2", "alpha-0"]);
  // Nothing is read by itself meanwhile.
  await sent(() => page.getByLabel("Live").uncheck());
  expect(await sent(() => name.pressSequentially("alpha"))).toBe(0);
  expect(await shown(page)).toEqual(["alpha-1", "alpha-2", "alpha-0"]);
  expect(await sent(() => name.fill(""))).toBe(0);
  expect(await shown(page)).toHaveLength(5);
  // What is read again is only what is shown.
  expect(await sent(() => name.fill("alpha"))).toBe(0);
  const request = page.waitForRequest("**/overview?*");
  await page.getByLabel("Live").check();
  expect(new URL((await request).url()).searchParams.get("queues")).toBe("alpha-0,alpha-1,alpha-2");
  await sent(() => page.getByLabel("Live").uncheck());
  expect(await sent(() => name.pressSequentially("-1"))).toBe(0);
  // Queues that were not read are read once.
  expect(await sent(() => name.fill("b"))).toBe(1);
  await expect.poll(() => shown(page)).toEqual(["beta-0", "beta-1"]);

  await page.getByLabel("Order").selectOption("by name");
  await sent(() => name.fill(""));
  await expect.poll(() => shown(page)).toHaveLength(5);
  expect(await sent(() => name.pressSequentially("beta-1"))).toBe(1);
  expect(await shown(page)).toEqual(["beta-1"]);
});

test("queues that cannot be read are the last in each order of numbers", async () => {
  await fill("order", [1, 5, 2, 4, 3]);
  const { page, go } = await rig.visit();
  const broken = ["order-0", "order-3"];
  await page.route("**/overview?*", async (route) => {
    const response = await route.fetch();
    const reply = (await response.json()) as { queues: { queue: string }[] };
    const queues = reply.queues.map((one) =>
      broken.includes(one.queue) ? { queue: one.queue, code: "newer_schema" } : one,
    );
    await route.fulfill({ response, json: { ...reply, queues } });
  });
  await go("?order=pending&name=order");
  await page.getByRole("table").waitFor();
  await expect.poll(() => shown(page)).toEqual(["order-1", "order-4", "order-2", "order-0", "order-3"]);
  expect(await page.getByText("newer_schema").count()).toBe(2);
  await go("?order=constructor&name=order");
  await expect.poll(() => shown(page)).toEqual(["order-0", "order-1", "order-2", "order-3", "order-4"]);
});

test("the age of a next task that waits for too long is marked in the list and on the page of its queue", async () => {
  const name = rig.name("old");
  await rig.queue(name, { now: () => Date.now() - 1_200_000 }).enqueue({});
  const [fresh = ""] = await fill("fresh", [1]);
  const { page, go } = await rig.visit({ at: "" });
  const colour = (element: Locator) => element.evaluate((one) => getComputedStyle(one).color);
  const age = (queue: string) =>
    page.getByRole("row").filter({ hasText: queue }).locator('[data-title="Next task waits for"] > span');
  await age(name).waitFor();
  expect(await colour(age(name))).not.toBe(await colour(age(fresh)));
  const tile = page.getByRole("definition").nth(4);
  await go(`queues/${name}`);
  await page.getByRole("heading", { name }).waitFor();
  const old = await colour(tile);
  await go(`queues/${fresh}`);
  await page.getByRole("heading", { name: fresh }).waitFor();
  expect(await colour(tile)).not.toBe(old);
});

test("a queue with partitions has a page of what each has; others have none", async () => {
  const name = rig.name("wide");
  const queue = rig.queue(name, { partitions: 3 });
  await queue.enqueueMany(Array.from({ length: 30 }, (_, payload) => ({ payload, id: `t${payload}` })));
  const [plain = ""] = await fill("plain", [1]);
  const { page, go } = await rig.visit({ at: `queues/${plain}` });
  await page.getByRole("link", { name: "groups" }).waitFor();
  expect(await page.getByRole("link", { name: "partitions" }).count()).toBe(0);
  await go(`queues/${name}`);
  await page.getByRole("link", { name: "partitions" }).click();
  const table = page.getByRole("table", { name: `Partitions of ${name}` });
  await table.waitFor();
  const rows = await table.getByRole("row").allTextContents();
  expect(rows).toHaveLength(4);
  const { partitions } = await rig.operator(name).listPartitions();
  expect(rows.slice(1)).toEqual(
    partitions.map(({ partition, pending }) => `${partition}${partition === 0 ? 34 : 33} %${pending}000`),
  );
  await page.getByText("New tasks go to 3 of these partitions.").waitFor();
  await rig.operator(name).resize(2);
  await page.getByText("New tasks go to 2 of these partitions.").waitFor();
  await expect.poll(async () => (await table.getByRole("row").allTextContents())[3]).toMatch(/^2none/);
});
