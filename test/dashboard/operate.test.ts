import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { looks, press, useDashboard } from "./rig.ts";
import { lease, makeDeadLetters } from "./work.ts";

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
    await press(page, "Forget importer");
    await confirm(page, "Forget");
    await page.getByText("Took importer off the list.").waitFor();
    await page.getByText(/^No worker at present/).waitFor();
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
    await page.getByText("acme now has: weight 3, at most 1 working, at most 5 in 1m.").waitFor();
    await page.getByRole("cell", { name: "at most 1 working, at most 5 in 1m" }).waitFor();
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

test("a schedule that is resumed from its finding is shown so at once", async () => {
  const queue = rig.queue(rig.name("reports"));
  await queue.enqueue({});
  await rig.schedules(queue.name).put("nightly", { every: "15m", payload: {}, paused: true });
  const { page } = await rig.visit({ at: `queues/${queue.name}/schedules` });
  // Nothing is read again by itself.
  await page.getByLabel("Live", { exact: true }).uncheck();
  await press(page, `Resume nightly… ${queue.name}`);
  await confirm(page, "Resume");
  await page.getByRole("button", { name: "Pause nightly" }).waitFor();
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

test("a queue and a group are paused for a time, which is shown", async () => {
  const queue = rig.queue(rig.name("webhooks"));
  const operator = rig.operator(queue.name);
  await queue.enqueue(1, { group: "acme" });
  const { page } = await rig.visit({ at: `queues/${queue.name}/groups` });
  const pausedFor = ({ pausedUntil }: { readonly pausedUntil: number | null }) =>
    Math.round(((pausedUntil ?? 0) - Date.now()) / 3_600_000);
  await press(page, "Pause acme");
  await expectRefused(page, "For", "2 hours", duration, "Pause");
  await page.getByLabel("For", { exact: true }).fill("2h");
  await confirm(page, "Pause");
  await page.getByText("The group acme is paused for 2h.").waitFor();
  await page
    .getByRole("row", { name: /acme/ })
    .getByText(/^paused until /)
    .waitFor();
  expect(pausedFor(await operator.groupSettings("acme"))).toBe(2);
  expect(await operator.settings()).toMatchObject({ paused: false });
  await press(page, "Pause…");
  await page.getByLabel("For", { exact: true }).fill("3h");
  await confirm(page, "Pause");
  await page.getByText(`${queue.name} is paused for 3h.`).waitFor();
  expect(pausedFor(await operator.settings())).toBe(3);
  await press(page, "Resume…");
  expect(await page.getByLabel("For", { exact: true }).count()).toBe(0);
  await confirm(page, "Resume");
  await page.getByText(`${queue.name} is resumed.`).waitFor();
  expect(await operator.settings()).toMatchObject({ paused: false, pausedUntil: null });
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
  await page.getByText(`${queue.name} now has: at most 7 working.`).waitFor();
  expect(await rig.operator(queue.name).settings()).toMatchObject({
    maxWorking: 7,
    maxPending: null,
    rate: null,
  });
});

test("a change of limits keeps what another person has changed since the dialog was opened", async () => {
  const queue = rig.queue(rig.name("webhooks"));
  const operator = rig.operator(queue.name);
  await queue.enqueue({}, { group: "acme" });
  await operator.configure({ maxWorking: 2 });
  await operator.configureGroup("acme", { weight: 3, rate: { most: 5, per: 60_000 } });
  const { page } = await rig.visit({ at: `queues/${queue.name}/groups` });
  await press(page, "Limits acme");
  await page.getByLabel("Weight, 1 to 100").fill("1");
  await operator.configureGroup("acme", { maxWorking: 50, rate: null });
  await confirm(page, "Change");
  await page.getByText("acme now has: weight 1, at most 50 working.").waitFor();
  await press(page, "Limits…");
  await page.getByLabel("Rate: most tasks").fill("9");
  await page.getByLabel("in each").fill("1s");
  await operator.configure({ maxWorking: 7, maxPending: 100 });
  await confirm(page, "Change");
  await page
    .getByText(`${queue.name} now has: at most 7 working, at most 9 in 1.0 s, at most 100 pending.`)
    .waitFor();
  // Without a change, nothing is.
  await press(page, "Limits…");
  await confirm(page, "Change");
  const rate = { most: 9, per: 1_000 };
  expect(await operator.settings()).toMatchObject({ maxWorking: 7, maxPending: 100, rate });
});

/** Types a wrong text into a field of the open dialog, which must then say so and send nothing. */
async function expectRefused(page: Page, label: string, text: string, fault: string, button: string) {
  const dialog = page.getByRole("dialog");
  const field = dialog.getByLabel(label, { exact: true });
  const before = await field.inputValue();
  await field.fill(text);
  await dialog.getByRole("alert").filter({ hasText: fault }).waitFor();
  expect(await field.getAttribute("aria-invalid")).toBe("true");
  expect(await dialog.getByRole("button", { name: button }).isDisabled()).toBe(true);
  await field.press("Enter");
  expect(await dialog.count()).toBe(1);
  await field.fill(before);
  await dialog.getByRole("alert").filter({ hasText: fault }).waitFor({ state: "hidden" });
}

const wholeNumber = (least: number, most: number) =>
  `It must be a whole number from ${least} to ${most}, in digits only.`;
const duration = "a number and a unit (ms, s, m, h, d), such as 30s or 5m";

test("a wrong limit is refused beside its field, and removes no limit", async () => {
  const queue = rig.queue(rig.name("webhooks"));
  await queue.enqueue({}, { group: "acme" });
  const limits = { maxWorking: 2, rate: { most: 5, per: 60_000 } };
  const operator = rig.operator(queue.name);
  await operator.configure({ ...limits, maxPending: 5 });
  await operator.configureGroup("acme", { ...limits, weight: 3 });
  const { page } = await rig.visit({ at: `queues/${queue.name}/groups` });
  const refused = (label: string, text: string, fault: string) =>
    expectRefused(page, label, text, fault, "Change");
  for (const button of ["Limits acme", "Limits…"]) {
    await press(page, button);
    for (const text of ["1,000", "1O", "abc", "0", "-1", "1.5", "1e3", "0x10"])
      await refused("Most working tasks", text, wholeNumber(1, 1_000_000));
    await refused("Rate: most tasks", "many", wholeNumber(1, 1_000_000));
    for (const text of ["bananas", "10", "0s", "1 minute"]) await refused("in each", text, duration);
    await refused("in each", "", `A rate needs a time: ${duration}`);
    await page.getByLabel("Rate: most tasks").fill("");
    await refused("in each", "bananas", duration);
    if (button === "Limits acme") await refused("Weight, 1 to 100", "heavy", wholeNumber(1, 100));
    else await refused("Most pending tasks", "1O", wholeNumber(1, 100_000_000));
    await press(page, "Back");
  }
  expect(await operator.settings()).toMatchObject({ ...limits, maxPending: 5 });
  expect(await operator.groupSettings("acme")).toMatchObject({ ...limits, weight: 3 });
});

test("numbers and durations of a new task, a schedule and a redrive are checked beside their fields", async () => {
  const queue = rig.queue(rig.name("reports"));
  await makeDeadLetters(queue, 1, new Error("503"));
  const { page, go } = await rig.visit({ at: `queues/${queue.name}/dead` });
  await press(page, "Enqueue…");
  await expectRefused(page, "Priority", "high", wholeNumber(0, 9), "Enqueue");
  await expectRefused(page, "Priority", "10", wholeNumber(0, 9), "Enqueue");
  await expectRefused(page, "Delay", "soon", duration, "Enqueue");
  await press(page, "Back");
  await press(page, "Redrive all…");
  await page.getByText("A dry run has found 1 dead letter.").waitFor();
  for (const text of ["fast", "0", "0x10", "1,000"])
    await expectRefused(page, "Most tasks a second", text, "a number from 0.001 to 1000000", "Redrive 1");
  await press(page, "Back");
  await go(`queues/${queue.name}/schedules`);
  await press(page, "New schedule…");
  await page.getByLabel("Name", { exact: true }).fill("usage");
  await expectRefused(page, "or every", "500ms", `${duration}, of at least 1s`, "Add");
  await expectRefused(page, "Priority", "1.5", wholeNumber(0, 9), "Add");
  await expectRefused(page, "Lease", "0s", duration, "Add");
  await expectRefused(page, "Most attempts", "none", wholeNumber(0, 1_000_000), "Add");
});
