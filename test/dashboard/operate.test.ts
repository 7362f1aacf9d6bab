import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { looks, press, useDashboard } from "./rig.ts";
import { lease } from "./work.ts";

const rig = useDashboard();

/** Confirms the open dialog by its button, and waits until it is closed. */
async function confirm(page: Page, button: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: button, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

describe.each(Object.entries(looks))("in %s", (_, look) => {
  test("a schedule is run now, paused, edited and resumed", async () => {
    const queue = rig.queue<{ readonly kind: string }>(rig.name("reports"));
    const schedules = rig.schedules(queue.name);
    await schedules.put("daily", {
      cron: "0 7 * * *",
      timeZone: "Europe/Vienna",
      payload: { kind: "daily" },
      group: "acme",
      headers: { trace: "t-1" },
    });
    const { page } = await rig.visit({ ...look, at: `queues/${queue.name}/schedules` });
    await press(page, "Run now daily");
    await confirm(page, "Run now");
    await page.getByText(/^Enqueued as /).waitFor();
    expect(await lease(queue)).toMatchObject({
      payload: { kind: "daily" },
      group: "acme",
      headers: { trace: "t-1" },
    });

    await press(page, "Pause daily");
    await confirm(page, "Pause");
    await page.getByText("paused", { exact: true }).waitFor();
    await page.locator(".badge + time").waitFor();
    expect(await schedules.get("daily")).toMatchObject({ paused: true });

    await press(page, "Edit daily");
    await page.getByLabel("Cron expression").fill("");
    await page.getByLabel("Time zone").fill("");
    await page.getByLabel("or every").fill("15m");
    await page.getByLabel("Payload, JSON").fill('{ "kind": "usage" }');
    await confirm(page, "Change");
    await page.getByText("every 15m").waitFor();
    // What the form does not show stays.
    expect(await schedules.get("daily")).toMatchObject({
      every: 900_000,
      payload: { kind: "usage" },
      paused: true,
      group: "acme",
      headers: { trace: "t-1" },
    });

    await press(page, "Resume daily");
    await confirm(page, "Resume");
    await page.getByText("paused", { exact: true }).waitFor({ state: "detached" });
    expect(await schedules.get("daily")).toMatchObject({ paused: false });
  });

  test("the tasks of a worker are taken back, and the page says to restart its process", async () => {
    const queue = rig.queue(rig.name("imports"));
    await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
    const worker = { name: "importer", node: "eu-west-1", pid: 411, incarnation: "a81f" };
    await queue.dequeue({ max: 2, worker });
    const { page } = await rig.visit({ ...look, at: `queues/${queue.name}/workers` });
    await press(page, "Take back importer");
    await page.getByText("Restart the process too: 411 on eu-west-1.").waitFor();
    expect(await queue.counts()).toMatchObject({ working: 2 });
    await confirm(page, "Take back");
    await page.getByText(/^Taken back from importer: 2 pending, 0 dead\. Restart its process/).waitFor();
    expect(await queue.counts()).toMatchObject({ pending: 2, working: 0 });
    const row = page.getByRole("row", { name: /importer.*failed .*, not back: restart its process/ });
    await row.waitFor();
    expect(await row.getByRole("button").count()).toBe(0);
  });

  test("a group is paused, and gets a weight and limits", async () => {
    const queue = rig.queue(rig.name("webhooks"));
    const operator = rig.operator(queue.name);
    await queue.enqueueMany([
      { payload: 1, group: "acme" },
      { payload: 2, group: "acme" },
    ]);
    const { page } = await rig.visit({ ...look, at: `queues/${queue.name}/groups` });
    await press(page, "Pause acme");
    await page.getByText("Waiting: 2 tasks.").waitFor();
    await confirm(page, "Pause");
    await page.getByText("paused", { exact: true }).waitFor();
    expect(await queue.dequeue()).toHaveLength(0);
    await press(page, "Resume acme");
    await confirm(page, "Resume");
    await page.getByText("paused", { exact: true }).waitFor({ state: "detached" });
    await press(page, "Limits acme");
    await page.getByLabel("Weight, 1 to 100").fill("3");
    await page.getByLabel("Most working tasks").fill("1");
    await page.getByLabel("Rate: most tasks").fill("5");
    await page.getByLabel("in each").fill("1m");
    await confirm(page, "Change");
    await page.getByText("at most 1 working, at most 5 in 1m").waitFor();
    const settings = async () => (await operator.groups()).groups[0];
    const rate = { most: 5, per: 60_000 };
    expect(await settings()).toMatchObject({ group: "acme", weight: 3, maxWorking: 1, rate });
    // An empty field removes a limit.
    await press(page, "Limits acme");
    await page.getByLabel("Rate: most tasks").fill("");
    await confirm(page, "Change");
    expect(await settings()).toMatchObject({ weight: 3, maxWorking: 1, rate: null });
  });
});

test("a new schedule is added, and a wrong one is refused with the reason", async () => {
  const queue = rig.queue(rig.name("reports"));
  await queue.enqueue({});
  const { page, faults } = await rig.visit({ at: `queues/${queue.name}/schedules` });
  await press(page, "New schedule…");
  expect(await page.getByRole("button", { name: "Add", exact: true }).isDisabled()).toBe(true);
  await page.getByLabel("Name", { exact: true }).fill("usage");
  await page.getByLabel("Cron expression").fill("every day");
  await press(page, "Add");
  await page
    .getByRole("dialog")
    .getByText(/cron must be/)
    .waitFor();
  await page.getByLabel("Cron expression").fill("0 7 * * *");
  await confirm(page, "Add");
  await page.getByText("usage was added.").waitFor();
  expect(await rig.schedules(queue.name).get("usage")).toMatchObject({ cron: "0 7 * * *", payload: {} });
  expect(faults.splice(0)).toHaveLength(1);
});

test("the limits of a queue are changed", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueue({});
  await rig.operator(queue.name).configure({ maxPending: 100 });
  const { page } = await rig.visit({ at: `queues/${queue.name}` });
  await press(page, "Limits…");
  await page.getByLabel("Most working tasks").fill("7");
  await page.getByLabel("Most pending tasks").fill("");
  await confirm(page, "Change");
  await page.getByText(`The limits of ${queue.name} were changed.`).waitFor();
  expect(await rig.operator(queue.name).settings()).toMatchObject({
    maxWorking: 7,
    maxPending: null,
    rate: null,
  });
});
