import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { looks, press, useDashboard } from "./rig.ts";
import { lease, makeDeadLetters } from "./work.ts";

const rig = useDashboard();

const boxOf = (page: Page, id: string) => page.getByRole("checkbox", { name: `Select ${id}`, exact: true });

/** The ids in the table, in its order. */
const shownIds = (page: Page) => page.locator("tbody .name").allTextContents();

/** Presses the button of the bar, then that of its dialog. */
async function act(page: Page, button: string, confirm: string): Promise<void> {
  await press(page, button);
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: confirm, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

describe.each(Object.entries(looks))("in %s", (_, look) => {
  test("dead letters are ticked over pages, a range with Shift, and redriven", async () => {
    const queue = rig.queue(rig.name("webhooks"));
    await makeDeadLetters(queue, 60, new Error("503"));
    const { page } = await rig.visit({ ...look, at: `queues/${queue.name}/dead` });
    const list = page.getByRole("table", { name: `Tasks of ${queue.name}`, exact: true });
    await list.waitFor();
    const ids = await list.locator(".name").allTextContents();
    expect(ids).toHaveLength(50);
    await boxOf(page, ids[1]!).check();
    await boxOf(page, ids[4]!).click({ modifiers: ["Shift"] });
    await page.getByText("4 selected").waitFor();
    // The keyboard does the same.
    await boxOf(page, ids[6]!).press("Shift+Space");
    await page.getByText("6 selected").waitFor();
    await boxOf(page, ids[6]!).press("Space");
    await page.getByText("5 selected").waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("Page 2").waitFor();
    await expect.poll(() => list.getByRole("row").count()).toBe(11);
    await page.getByLabel("All on this page").check();
    await page.getByText("15 selected").waitFor();
    await act(page, "Redrive 15…", "Redrive");
    await page.getByText(`15 tasks of ${queue.name} redriven.`).waitFor();
    expect(await queue.counts()).toMatchObject({ rejected: 45, pending: 15 });
    await expect.poll(() => page.getByText("selected").count()).toBe(0);
  });

  test("ticked tasks are cancelled, except those that have changed", async () => {
    const queue = rig.queue(rig.name("emails"));
    await queue.enqueueMany(["a", "b", "c", "d"].map((id) => ({ id, payload: {} })));
    const { page } = await rig.visit({ ...look, at: `queues/${queue.name}` });
    await page.getByLabel("All on this page").check();
    await boxOf(page, "d").uncheck();
    await (await lease(queue)).complete();
    await act(page, "Cancel 3…", "Cancel the tasks");
    await page.getByText(`2 tasks of ${queue.name} cancelled. 1 not: changed meanwhile.`).waitFor();
    await expect.poll(() => shownIds(page)).toEqual(["d"]);
    expect(await queue.counts()).toMatchObject({ pending: 1, rejected: 0 });
  });
});

test("the records of ticked tasks that have ended are removed", async () => {
  const queue = rig.queue(rig.name("emails"));
  const dead = await makeDeadLetters(queue, 2, new Error("no such mailbox"));
  await queue.enqueueMany(["a", "b", "c"].map((id) => ({ id, payload: {} })));
  for (const task of await queue.dequeue({ max: 3 })) await task.complete({ sent: task.id });
  const { page, go } = await rig.visit({ at: `queues/${queue.name}/completed` });
  await page.getByText('{"sent":"b"}').waitFor();
  await boxOf(page, "a").check();
  await boxOf(page, "b").check();
  await act(page, "Remove 2…", "Remove");
  await page.getByText(`2 tasks of ${queue.name} removed.`).waitFor();
  await expect.poll(() => shownIds(page)).toEqual(["c"]);
  expect(await queue.get("a")).toBeNull();
  await go(`queues/${queue.name}/dead`);
  await boxOf(page, dead[0]!).check();
  await act(page, "Remove 1…", "Remove");
  await page.getByText(`1 task of ${queue.name} removed.`).waitFor();
  expect(await queue.counts()).toMatchObject({ rejected: 1 });
});

test("what is ticked stays ticked while the list grows, and not under another filter", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload: {}, group: "acme" })));
  const { page } = await rig.visit({ withClock: true, at: `queues/${queue.name}` });
  await boxOf(page, "a").check();
  await queue.enqueue({}, { id: "c" });
  await page.clock.fastForward(5_000);
  await boxOf(page, "c").waitFor();
  expect(await boxOf(page, "a").isChecked()).toBe(true);
  await page.getByLabel("Group", { exact: true }).fill("acme");
  await page.clock.fastForward(1_000);
  await boxOf(page, "c").waitFor({ state: "detached" });
  expect(await boxOf(page, "a").isChecked()).toBe(false);
  expect(new URL(page.url()).hash).toBe(`#/queues/${queue.name}/pending?group=acme`);
  // The field keeps the focus while the list changes.
  expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).value)).toBe("acme");
});

test("a redrive of tasks whose leases expired warns, and what removes tasks has the colour of danger", async () => {
  const clock = { now: Date.now() - 300_000 };
  const queue = rig.queue(rig.name("webhooks"), { now: () => clock.now });
  await queue.enqueueMany([1, 2].map((payload) => ({ payload, lease: "1m", maxAttempts: 1 })));
  await queue.dequeue({ max: 2 });
  clock.now += 120_000;
  await queue.dequeue();
  const { page } = await rig.visit({ at: `queues/${queue.name}/dead?reason=lease_expired` });
  const warning = page.getByRole("dialog").getByText("they may have killed or hung their process");
  await press(page, "Redrive all that match…");
  await warning.waitFor();
  await press(page, "Back");
  await page.getByLabel("All on this page").check();
  expect(await page.getByRole("button", { name: "Remove 2…" }).getAttribute("class")).toBe("danger");
  await press(page, "Redrive 2…");
  await warning.waitFor();
});

test("on a narrow screen the tab that is shown is in sight, and a toast links the id that it names", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueue({});
  const { page } = await rig.visit({
    viewport: { width: 390, height: 844 },
    at: `queues/${queue.name}/groups`,
  });
  const tab = page.getByRole("link", { name: "groups", exact: true });
  await expect
    .poll(async () => {
      const { x = 390, width = 0 } = (await tab.boundingBox()) ?? {};
      return x + width;
    })
    .toBeLessThanOrEqual(390);
  await press(page, "Enqueue…");
  await press(page, "Enqueue");
  await page.getByRole("status").filter({ hasText: "Enqueued as" }).getByRole("link").click();
  await page.getByRole("heading", { name: "Timeline" }).waitFor();
});
