import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { hold, looks, press, useDashboard } from "./rig.ts";
import { errorNamed, lease, makeDeadLetters } from "./work.ts";

const rig = useDashboard();

/** The texts of the cells of a table, row by row, without those of times and buttons. */
async function rowsOf(page: Page, name: string, cells: readonly number[]): Promise<(string | undefined)[][]> {
  const table = page.getByRole("table", { name, exact: true });
  await table.waitFor();
  const rows = await table.locator("tbody tr").all();
  const texts = await Promise.all(rows.map((row) => row.getByRole("cell").allTextContents()));
  return texts.map((row) => cells.map((cell) => row[cell]));
}

describe.each(Object.entries(looks))("in %s", (_, look) => {
  test("dead letters are shown by cause first, and one cause is redriven", async () => {
    const queue = rig.queue(rig.name("webhooks"));
    await makeDeadLetters(queue, 30, errorNamed("HttpError", "503 from hooks.example.com"));
    await makeDeadLetters(queue, 4, errorNamed("HttpError", "410 Gone"));
    await queue.enqueue({}, { id: "final" });
    await (await lease(queue)).reject("malformed");
    const { page } = await rig.visit({ ...look, at: `queues/${queue.name}/dead` });
    const causes = `Dead letters of ${queue.name} by cause`;
    expect(await rowsOf(page, causes, [0, 1, 2])).toEqual([
      ["HttpError: 503 from hooks.example.com", "attempts exhausted", "30"],
      ["HttpError: 410 Gone", "attempts exhausted", "4"],
      ["malformed", "rejected", "1"],
    ]);
    await page.getByText("35 dead letters", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Redrive HttpError: 503 from hooks.example.com" }).click();
    await page.getByText("A dry run has found 30 dead letters.").waitFor();
    await press(page, "Redrive 30");
    await page.getByText(`30 dead letters of ${queue.name} redriven.`).waitFor();
    expect(await queue.counts()).toMatchObject({ pending: 30, rejected: 5 });
    await expect.poll(() => rowsOf(page, causes, [2])).toEqual([["4"], ["1"]]);

    // A cause leads to its tasks, also if a consumer rejected them for good.
    await page.getByRole("link", { name: "malformed" }).first().click();
    const tasks = page.getByRole("table", { name: `Tasks of ${queue.name}`, exact: true });
    await expect.poll(() => tasks.locator(".name").allTextContents()).toEqual(["final"]);
    expect(await page.getByLabel("Reason").inputValue()).toBe("rejected");
    await page.getByRole("button", { name: "Purge malformed" }).click();
    await press(page, "Purge");
    await page.getByText(`1 task of ${queue.name} purged.`).waitFor();
    expect(await queue.counts()).toMatchObject({ rejected: 4 });
  });

  test("dead letters are shown by group, and the browser keeps the choice", async () => {
    const queue = rig.queue(rig.name("webhooks"));
    for (const [group, count] of [
      ["acme", 3],
      ["globex", 1],
    ] as const) {
      await queue.enqueueMany(Array.from({ length: count }, () => ({ payload: {}, group, maxAttempts: 1 })));
    }
    for (const task of await queue.dequeue({ max: 4 })) await task.requeue({ error: new Error("503") });
    const { page } = await rig.visit({ ...look, at: `queues/${queue.name}/dead` });
    await press(page, "By group");
    const groups = `Dead letters of ${queue.name} by group`;
    expect(await rowsOf(page, groups, [0, 1])).toEqual([
      ["acme", "3"],
      ["globex", "1"],
    ]);
    await page.reload();
    await page.getByRole("button", { name: "Redrive the group acme" }).click();
    await press(page, "Redrive 3");
    await page.getByText(`3 dead letters of ${queue.name} redriven.`).waitFor();
    await expect.poll(() => rowsOf(page, groups, [0, 1])).toEqual([["globex", "1"]]);
  });
});

test("the newest dead letters come first, with payloads and whole errors", async () => {
  const queue = rig.queue(rig.name("webhooks"));
  const long = `HttpError: ${"the receiver said no, and said why. ".repeat(6)}`.trim();
  for (const number of [1, 2, 3]) {
    await queue.enqueue({ order: `ord_${number}` }, { id: `t${number}` });
    await (await lease(queue)).reject(number === 3 ? long : `error ${number}`);
  }
  const { page } = await rig.visit({ at: `queues/${queue.name}/dead` });
  const list = page.getByRole("table", { name: `Tasks of ${queue.name}`, exact: true });
  await expect.poll(() => list.locator(".name").allTextContents()).toEqual(["t3", "t2", "t1"]);
  await list.getByText('{"order":"ord_3"}').waitFor();
  const error = list.getByText(/the receiver said no/);
  expect(await error.textContent()).toContain(long.slice(0, 150));
  // The error uses the width of its column.
  const [own, column] = await error.evaluate((one) => [
    one.closest("span")!.clientWidth,
    one.closest("td")!.clientWidth,
  ]);
  expect(own).toBeGreaterThan(0.85 * column);
  await page.getByLabel("Order").selectOption("oldest first");
  await expect.poll(() => list.locator(".name").allTextContents()).toEqual(["t1", "t2", "t3"]);
  await page.getByLabel("Hide payloads").check();
  await expect.poll(() => list.getByText("ord_").count()).toBe(0);
  await list.getByText("hidden").first().waitFor();
});

test("a redrive of the last dead letters goes on when the page sees none any more", async () => {
  const queue = rig.queue(rig.name("webhooks"));
  await makeDeadLetters(queue, 1_500, new Error("503"));
  const { page } = await rig.visit({ withClock: true, at: `queues/${queue.name}/dead` });
  const redriving = await hold(page, "**/redrive", 4);
  await page.getByRole("button", { name: "Redrive Error: 503" }).click();
  await press(page, "Redrive 1,500");
  await page.getByText("1,000 of 1,500").waitFor();
  // Meanwhile another operator has purged the rest.
  await rig.operator(queue.name).purge({ state: "rejected" });
  await page.clock.fastForward(61_000);
  await page.getByText("There are no such dead letters.").first().waitFor();
  redriving.goOn();
  await page.getByText(`1,000 dead letters of ${queue.name} redriven.`).waitFor();
  await page.getByRole("table", { name: /by cause/ }).waitFor({ state: "detached" });
  expect(await queue.counts()).toMatchObject({ pending: 1_000, rejected: 0 });
});

test("cancelled tasks are shown by their reason alone, and the filter without one says so", async () => {
  const queue = rig.queue(rig.name("webhooks"));
  await queue.enqueue({}, { id: "unwanted" });
  await queue.cancel("unwanted");
  const { page } = await rig.visit({ at: `queues/${queue.name}/dead` });
  await page.getByText("There are no such tasks.").waitFor();
  const reason = page.getByLabel("Reason");
  expect(await reason.locator("option:checked").textContent()).toBe("any except cancelled");
  await reason.selectOption("cancelled");
  await page.getByRole("link", { name: "unwanted" }).waitFor();
});
