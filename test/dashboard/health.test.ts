import { describe, expect, test } from "vitest";
import { findingOf, findings, looks, press, useDashboard } from "./rig.ts";
import { watchReads } from "./screens.ts";
import { makeDeadLetters } from "./work.ts";

const rig = useDashboard();

describe.each(Object.entries(looks))("in %s", (_, look) => {
  test("what is wrong is above the list of queues, with what to do, and is gone once it is done", async () => {
    const paused = rig.queue(rig.name("emails"));
    await paused.enqueue({});
    await rig.operator(paused.name).pause();
    const fine = rig.queue(rig.name("fine"));
    await fine.enqueue({});
    const { page, go } = await rig.visit({ ...look, at: "" });
    const statusOf = (name: string) =>
      page
        .getByRole("row")
        .filter({ has: page.getByRole("link", { name, exact: true }) })
        .locator('[data-title="Health"]')
        .textContent();
    await page.getByRole("table", { name: "Queues" }).waitFor();
    await expect.poll(() => statusOf(paused.name)).toBe("warning");
    expect(await statusOf(fine.name)).toBe("ok");
    const finding = findingOf(page, paused.name, "paused, with 1 pending");
    await finding.getByRole("button", { name: `Resume… ${paused.name}` }).click();
    await press(page, "Resume");
    await page.getByText(`${paused.name} is resumed.`).waitFor();
    await finding.waitFor({ state: "detached" });
    await expect.poll(() => statusOf(paused.name)).toBe("ok");
    expect(await rig.operator(paused.name).settings()).toMatchObject({ paused: false });
    await go(`queues/${paused.name}`);
    await page.getByRole("heading", { name: paused.name }).waitFor();
  });

  test("a finding leads to its cause, and a queue shows its own findings only", async () => {
    const queue = rig.queue(rig.name("webhooks"));
    await makeDeadLetters(queue, 12, new Error("503"));
    const other = rig.queue(rig.name("emails"));
    await other.enqueue({});
    await rig.operator(other.name).pause();
    const { page, go } = await rig.visit({ ...look, at: "health" });
    await findingOf(page, other.name, "paused").waitFor();
    const finding = findingOf(page, queue.name, "12 dead letters");
    await finding.getByText("problem", { exact: true }).waitFor();
    await finding.getByRole("link", { name: `Causes of ${queue.name}` }).click();
    await page.getByRole("table", { name: `Dead letters of ${queue.name} by cause` }).waitFor();
    await findingOf(page, "", "12 dead letters").waitFor();
    expect(await findings(page).count()).toBe(1);
    await go(`queues/${other.name}`);
    await findingOf(page, "", "paused, with 1 pending").waitFor();
    // For the other tests, of the same Redis.
    await rig.operator(other.name).resume();
    await rig.operator(queue.name).purge({ state: "rejected" });
  });
});

test("a paused schedule is resumed, and what is overdue is swept, from their findings", async () => {
  const queue = rig.queue(rig.name("reports"));
  await rig.schedules(queue.name).put("usage", { every: "15m", payload: {}, paused: true });
  const late = rig.queue(rig.name("late"), { now: () => Date.now() - 600_000 });
  await late.enqueue({}, { id: "overdue", delay: "1m" });
  const { page } = await rig.visit({ at: "health" });
  await findingOf(page, queue.name, "schedule usage has been paused for")
    .getByRole("button", { name: `Resume usage… ${queue.name}` })
    .click();
  await press(page, "Resume");
  await page.getByText("usage is resumed.").waitFor();
  expect(await rig.schedules(queue.name).get("usage")).toMatchObject({ paused: false });
  await findingOf(page, late.name, "overdue")
    .getByRole("button", { name: `Sweep now… ${late.name}` })
    .click();
  await press(page, "Sweep");
  await page.getByText(/^Swept: 1 due/).waitFor();
  expect(await late.get("overdue")).toMatchObject({ state: "pending" });
  await findingOf(page, late.name, "overdue").waitFor({ state: "detached" });
});

test("a token that may only view sees findings and their causes, and no button about them", async () => {
  const queue = rig.queue(rig.name("emails"));
  await makeDeadLetters(queue, 1, new Error("503"));
  await rig.operator(queue.name).pause();
  const { page } = await rig.visit({ as: "view", at: "health" });
  await findingOf(page, queue.name, "paused").waitFor();
  await page.getByRole("link", { name: `Causes of ${queue.name}` }).waitFor();
  expect(await findings(page).getByRole("button").count()).toBe(0);
  await rig.operator(queue.name).resume();
});

test("health is read once a minute, and at once after an action", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueue({});
  const { page, go } = await rig.visit({ withClock: true });
  const reads = watchReads(page, (url) => url.includes("/health/"));
  await go(`queues/${queue.name}`);
  await page.getByRole("table").waitFor();
  await expect.poll(() => [reads.sent, reads.open]).toEqual([1, 0]);
  for (let refresh = 0; refresh < 3; refresh++) {
    await page.clock.fastForward(5_000);
    await page.waitForTimeout(100);
  }
  expect(reads.sent).toBe(1);
  await page.clock.fastForward(60_000);
  await expect.poll(() => [reads.sent, reads.open]).toEqual([2, 0]);
  await press(page, "Pause…");
  await press(page, "Pause");
  await findingOf(page, "", "paused").waitFor();
  expect(reads.sent).toBe(3);
});

test("findings say how old they are, and are read again soon after the queue has nothing more to wait for", async () => {
  const queue = rig.queue(rig.name("emails"), { now: () => Date.now() - 1_200_000 });
  await queue.enqueue({}, { id: "waiting" });
  const { page, go } = await rig.visit({ withClock: true });
  const reads = watchReads(page, (url) => url.includes("/health/"));
  await go(`queues/${queue.name}`);
  const finding = findingOf(page, "", "no consumer works");
  await finding.waitFor();
  await page.getByText(/^Checked (now|.* ago)\.$/).waitFor();
  await rig.queue(queue.name).cancel("waiting");
  // The counts are read first.
  await page.clock.fastForward(5_000);
  await page.getByRole("link", { name: /^pending.*0/ }).waitFor();
  expect(reads.sent).toBe(1);
  await page.clock.fastForward(16_000);
  await finding.waitFor({ state: "detached" });
  expect(reads.sent).toBe(2);
  // Without a finding that they contradict, changes are left to the next minute.
  await rig.queue(queue.name).enqueue({});
  await page.clock.fastForward(5_000);
  await page.getByRole("link", { name: /^pending.*1/ }).waitFor();
  await page.clock.fastForward(25_000);
  await page.waitForTimeout(100);
  expect(reads.sent).toBe(2);
});

test("that no consumer works is no longer said once the counts show that one does", async () => {
  const queue = rig.queue(rig.name("emails"), { now: () => Date.now() - 1_200_000 });
  await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  const { page, go } = await rig.visit({ withClock: true });
  const reads = watchReads(page, (url) => url.includes("/health/"));
  await go(`queues/${queue.name}`);
  const finding = findingOf(page, "", "no consumer works");
  await finding.waitFor();
  await rig.queue(queue.name).dequeue();
  await page.clock.fastForward(5_000);
  await page.getByRole("link", { name: /^working.*1/ }).waitFor();
  await finding.waitFor({ state: "detached" });
  expect(reads.sent).toBe(1);
});

test("a queue at its limit gets another one from its finding", async () => {
  const name = rig.name("imports");
  const queue = rig.queue(name, { now: () => Date.now() - 1_200_000 });
  await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  await rig.queue(name).dequeue();
  await rig.operator(name).configure({ maxWorking: 1 });
  const { page } = await rig.visit({ at: "health" });
  await findingOf(page, name, "maxWorking")
    .getByRole("button", { name: `Limits… ${name}` })
    .click();
  await page.getByRole("heading", { name: `Limits of ${name}` }).waitFor();
  await page.getByLabel("Most working tasks").fill("5");
  await press(page, "Change");
  await page.getByText(`${name} now has: at most 5 working.`).waitFor();
  expect(await rig.operator(name).settings()).toMatchObject({ maxWorking: 5 });
});

test("a handler that hangs is found, and its tasks are taken back from its worker", async () => {
  const name = rig.name("webhooks");
  await rig.operator(name).configure({ statistics: true });
  const clock = { now: Date.now() - 1_200_000 };
  const queue = rig.queue(name, { now: () => clock.now });
  await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  const worker = { name: "sender", pid: 17 };
  const [hanging] = await queue.dequeue({ worker });
  // Its process still extends the lease.
  for (let minute = 0; minute < 20; minute += 4) {
    clock.now += 240_000;
    await hanging?.extend("5m");
  }
  const { page } = await rig.visit({ at: "" });
  const finding = findingOf(page, name, "nothing has ended").or(findingOf(page, name, "nothing was taken"));
  await finding.getByText("problem", { exact: true }).waitFor();
  await finding.getByRole("link", { name: `Workers of ${name}` }).click();
  await press(page, "Take back sender");
  await page.getByText("Restart the process too: 17.").waitFor();
  await press(page, "Take back");
  await page.getByText(/^Taken back from sender: 1 pending, 0 dead\./).waitFor();
  expect(await rig.queue(name).counts()).toMatchObject({ pending: 2, working: 0 });
});

test("a failed worker that has not come back, and a task whose leases expire, are found with links to both", async () => {
  const name = rig.name("webhooks");
  const clock = { now: Date.now() - 300_000 };
  const queue = rig.queue(name, { now: () => clock.now });
  await queue.enqueue(1, { id: "poison", lease: "1m" });
  await queue.dequeue({ worker: { name: "sender" } });
  await rig.operator(name).failWorker("sender");
  for (let i = 0; i < 2; i++) {
    await queue.dequeue({ worker: { name: "other" } });
    clock.now += 60_000;
  }
  await rig.queue(name).dequeue({ worker: { name: "other" } });
  const { page } = await rig.visit({ at: "health" });
  const lost = findingOf(page, name, "worker sender was failed");
  await lost.getByRole("link", { name: `Workers of ${name}` }).waitFor();
  await findingOf(page, name, "task poison lost 2 leases").getByRole("link", { name: "Task poison" }).click();
  await page.getByRole("heading", { name: "poison" }).waitFor();
  await rig.queue(name).cancel("poison");
  await page.getByText(/^Cancel requested .* ago; its consumer learns of it/).waitFor();
});
