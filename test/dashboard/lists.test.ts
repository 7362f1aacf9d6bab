import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { reasonTexts } from "../../src/index.ts";
import type { Overview, Overviews } from "../../src/dashboard/page/api/types.ts";
import { looks, useDashboard } from "./rig.ts";
import { lease, makeDeadLetters } from "./work.ts";

const rig = useDashboard();

const names = (page: Page) => page.locator("tbody tr td:first-child :is(a, strong)").allTextContents();

/** The names on all pages of a list. */
async function allNames(page: Page, place: string): Promise<string[]> {
  const found: string[] = [];
  const next = page.getByRole("button", { name: "Next" });
  for (let number = 1; ; number++) {
    await page.getByText(`Page ${number}`).waitFor();
    await page.getByText("Loading…").waitFor({ state: "detached" });
    const shown = await names(page);
    expect(shown.length, place).toBeLessThan(120);
    found.push(...shown);
    if (await next.isDisabled()) return found.toSorted();
    await next.click();
  }
}

test("all groups, workers and schedules are shown, a page at a time", async () => {
  const queue = rig.queue(rig.name("emails"));
  // More than a small hash of Redis holds, which is always read as a whole.
  const numbers = Array.from({ length: 600 }, (_, i) => String(i).padStart(3, "0"));
  const schedules = rig.schedules(queue.name);
  await Promise.all(numbers.map((i) => schedules.put(`at-${i}`, { every: "1d", payload: {} })));
  await queue.enqueueMany(numbers.map((i) => ({ payload: i })));
  await Promise.all(numbers.map((i) => lease(queue, { name: `worker-${i}` })));
  await queue.enqueueMany(numbers.map((i) => ({ payload: i, group: `group-${i}` })));
  const { page, go } = await rig.visit();
  for (const [tab, start] of [
    ["groups", "group"],
    ["workers", "worker"],
    ["schedules", "at"],
  ] as const) {
    await go(`queues/${queue.name}/${tab}`);
    expect(await allNames(page, tab)).toEqual(numbers.map((i) => `${start}-${i}`));
  }
  await go(`queues/${queue.name}/workers`);
  await page.getByText("Page 1").waitFor();
  // A name is not broken at its hyphens.
  const heights = await page.locator(".worker").evaluateAll((all) => all.map((one) => one.clientHeight));
  expect(Math.max(...heights)).toBeLessThan(30);
});

interface AxNode {
  readonly role?: { readonly value: string };
}

test.each(Object.entries(looks))("a list is a table for screen readers too: %s", async (_, look) => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  const { page, context } = await rig.visit({ ...look, at: `queues/${queue.name}` });
  await page.getByRole("table").waitFor();
  // This Chromium knows a table by its elements; other browsers forget it where CSS changes how they are displayed.
  const parts = page.locator("main :is(table, thead, tbody, tr, th, td)");
  const roles = await parts.evaluateAll((all) => all.map((one) => one.getAttribute("role")));
  expect(new Set(roles)).toEqual(new Set(["table", "rowgroup", "row", "columnheader", "cell"]));
  const session = await context.newCDPSession(page);
  const { nodes } = (await session.send("Accessibility.getFullAXTree")) as { nodes: readonly AxNode[] };
  const count = (role: string) => nodes.filter((node) => node.role?.value === role).length;
  expect(
    Object.fromEntries(["table", "row", "columnheader", "cell"].map((role) => [role, count(role)])),
  ).toEqual({ table: 1, row: 3, columnheader: 6, cell: 12 });
});

test("the error that a list shows of a task finds it", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueueMany(["lost", "final"].map((id) => ({ id, payload: {}, maxAttempts: 1 })));
  const [, final] = await queue.dequeue({ max: 2, worker: { name: "w" } });
  await final?.reject();
  await rig.operator(queue.name).failWorker("w");
  const { page, go } = await rig.visit();
  for (const [id, error] of [
    ["lost", reasonTexts.taken_back],
    ["final", reasonTexts.rejected],
  ] as const) {
    await go(`queues/${queue.name}/dead`);
    const list = page.getByRole("table", { name: `Tasks of ${queue.name}`, exact: true });
    await list.getByText(error).waitFor();
    await page.getByLabel("Text of the error").fill(error);
    await expect.poll(() => list.locator(".name").allTextContents()).toEqual([id]);
  }
});

test("completed tasks are shown at once behind thousands of dead letters, which are kept for longer", async () => {
  const queue = rig.queue(rig.name("emails"));
  await makeDeadLetters(queue, 2_100, new Error("503"));
  await queue.enqueue({}, { id: "done" });
  await (await lease(queue)).complete({ sent: true });
  const { page } = await rig.visit({ at: `queues/${queue.name}/completed` });
  await page.getByText('{"sent":true}').waitFor();
  const list = page.getByRole("table", { name: `Tasks of ${queue.name}`, exact: true });
  expect(await list.locator(".name").allTextContents()).toEqual(["done"]);
  expect(await page.getByRole("button", { name: "Next" }).isDisabled()).toBe(true);
});

test("of workers that beat the page says whether they are idle or gone, of others only when they were seen", async () => {
  const name = rig.name("emails");
  await rig.queue(name).enqueue({});
  await rig.queue(name, { now: () => Date.now() - 1_200_000 }).heartbeat({ name: "web:1", goneAfter: "2m" });
  await rig.queue(name).heartbeat({ name: "web:2", goneAfter: "2m" });
  await rig.queue(name).dequeue({ worker: { name: "alive" } });
  const { page } = await rig.visit({ at: `queues/${name}/workers` });
  const row = (worker: string) => page.getByRole("row").filter({ hasText: worker });
  await row("web:1")
    .getByText(/^gone, last seen 20m(?: \d+s)? ago$/)
    .waitFor();
  await row("web:2")
    .getByText(/^idle, last seen (?:now|\d+s ago)$/)
    .waitFor();
  const buttons = (worker: string) => row(worker).getByRole("button").allTextContents();
  expect([await buttons("web:1"), await buttons("web:2")]).toEqual([["Forget"], []]);
  await row("alive")
    .getByText(/^(?:now|\d+s ago)$/)
    .waitFor();
});

test("dollars are said to be those at Upstash, also where the page says what it has spent", async () => {
  const { page } = await rig.visit({ at: "costs" });
  await page.getByText("dollars an hour at Upstash", { exact: true }).waitFor();
  const spent = page.getByRole("contentinfo");
  await spent.getByText(/^Upstash charges (?:< )?\$\d+(?:\.\d\d)? for them;$/).waitFor();
  await spent.getByText("a Redis of your own, nothing.").waitFor();
});

test("ages are right although the viewer's clock is not", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueue({}, { id: "late", delay: "10m" });
  const { page, go } = await rig.visit();
  await page.clock.setSystemTime(Date.now() + 3 * 3_600_000);
  for (const place of [`queues/${queue.name}/tasks/late`, `queues/${queue.name}/delayed`]) {
    await go("costs");
    await page.getByRole("heading", { name: "Costs" }).waitFor();
    await go(place);
    await page.getByText(/^in (?:10m|9m \d+s)$/).waitFor();
  }
  await page.reload();
  await page.getByText(/^in (?:10m|9m \d+s)$/).waitFor();
});

test("the rate of a queue is not known in the first minute of its statistics", async () => {
  const queue = rig.queue(rig.name("emails"));
  await rig.operator(queue.name).configure({ statistics: true });
  const { page, go } = await rig.visit();
  /** Completed tasks of the minute before this one, and of this one. */
  let completed: readonly [number, number] = [0, 0];
  await page.route("**/overview?*", async (route) => {
    const response = await route.fetch();
    const reply = (await response.json()) as Overviews;
    const queues = reply.queues.map((one) => ("code" in one ? one : withCompleted(one, completed)));
    await route.fulfill({ response, json: { ...reply, queues } });
  });
  const rate = page.locator(".tile").filter({ hasText: "done a minute (5 min)" }).locator("dd");
  await go(`queues/${queue.name}`);
  for (const [counts, shown] of [
    [[0, 0], "0"],
    [[0, 7], "–"],
    [[10, 7], "2.0"],
  ] as const) {
    completed = counts;
    await page.reload();
    await rate.waitFor();
    expect(await rate.textContent()).toBe(shown);
  }
});

function withCompleted(queue: Overview, [before, now]: readonly [number, number]): Overview {
  const { statistics } = queue;
  const { perMinute, series } = statistics;
  const completed = [...series.completed.slice(0, -2), before, now];
  return {
    ...queue,
    statistics: {
      ...statistics,
      perMinute: { ...perMinute, completed: before / 5 },
      series: { ...series, completed },
    },
  };
}
