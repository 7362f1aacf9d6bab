import { expect, test } from "vitest";
import { press, useDashboard } from "./rig.ts";
import { lease, makeDeadLetters } from "./work.ts";

const rig = useDashboard();

test("a task's payload is read when it is opened and when it ends, and then nothing more", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueue({ to: "ada" }, { id: "welcome" });
  const { page, go } = await rig.visit({ withClock: true });
  /** Whether each request asked for the payload. */
  const asked: boolean[] = [];
  page.on("requestfinished", (request) => {
    if (request.url().includes("/tasks/welcome")) asked.push(request.url().includes("payload=true"));
  });
  const payload = page.getByLabel("Payload", { exact: true });
  await go(`queues/${queue.name}/tasks/welcome`);
  await payload.waitFor();
  const task = await lease(queue);
  await page.clock.fastForward(5_000);
  await page.getByText("attempt 1 begins").waitFor();
  expect(await payload.textContent()).toContain("ada");
  expect(asked).toEqual([true, false]);
  await task.reject(new Error("no such mailbox"));
  await page.clock.fastForward(5_000);
  await page.getByText("dead: its consumer rejected it for good").waitFor();
  expect(await payload.textContent()).toContain("ada");
  await expect.poll(() => asked).toEqual([true, false, false, true]);
  await page.clock.fastForward(5_000);
  await page.clock.fastForward(60_000);
  await page.waitForTimeout(200);
  expect(asked).toHaveLength(4);

  // Pending again, it is read again.
  await page.getByRole("button", { name: "Redrive…" }).click();
  await page.getByRole("button", { name: "Redrive", exact: true }).click();
  await page.locator(".event").getByText("pending again").waitFor();
  await (await lease(queue)).complete();
  await page.clock.fastForward(5_000);
  await page.getByText("No longer kept: the task has ended.").waitFor();
  expect(asked.slice(4)).toEqual([true, false, true]);
});

test("the payload of an id that was enqueued again is that of the new task", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueue({ to: "ada" }, { id: "welcome" });
  const { page } = await rig.visit({ withClock: true, at: `queues/${queue.name}/tasks/welcome` });
  await page.getByLabel("Payload", { exact: true }).getByText("ada").waitFor();
  await (await lease(queue)).complete();
  await queue.enqueue({ to: "grace" }, { id: "welcome", again: true });
  await page.clock.fastForward(5_000);
  await page.getByLabel("Payload", { exact: true }).getByText("grace").waitFor();
});

test("the timeline says why a task is dead, and of an end before a redrive only that it was", async () => {
  const queue = rig.queue(rig.name("emails"));
  const [id = ""] = await makeDeadLetters(queue, 1, new Error("no such mailbox"));
  const { page } = await rig.visit({ at: `queues/${queue.name}/tasks/${id}` });
  const timeline = page.locator(".event");
  const first = ["enqueued", "attempt 1 begins", "attempt 1 failed"];
  await expect.poll(() => timeline.allTextContents()).toEqual([...first, "dead: its attempts are used up"]);
  await press(page, "Redrive…");
  await press(page, "Redrive");
  await expect.poll(() => timeline.allTextContents()).toEqual([...first, "dead", "pending again"]);
  await (await lease(queue)).reject();
  await page.reload();
  await expect
    .poll(() => timeline.allTextContents())
    .toEqual([
      ...first,
      "dead",
      "pending again",
      "attempt 2 begins",
      "dead: its consumer rejected it for good",
    ]);
});

test("the timeline of a task with many attempts is in order, and says what of it is no longer kept", async () => {
  const clock = { now: Date.now() - 3_600_000 };
  const queue = rig.queue(rig.name("emails"), { now: () => clock.now });
  await queue.enqueue({}, { id: "poison", maxAttempts: 0 });
  for (let attempt = 1; attempt <= 20; attempt++) {
    const task = await lease(queue);
    clock.now += 5_000;
    await task.requeue({ error: new Error("no answer") });
    clock.now += 5_000;
  }
  const { page } = await rig.visit({ at: `queues/${queue.name}/tasks/poison` });
  const timeline = page.locator(".timeline");
  const lost = timeline.getByText(/^no longer kept: \d+ earlier transitions$/);
  await lost.waitFor();
  const times = await timeline
    .locator("time")
    .evaluateAll((all) => all.map((time) => (time as HTMLTimeElement).dateTime));
  expect(times).toEqual(times.toSorted());
  const events = await timeline.locator(".event").allTextContents();
  const at = events.indexOf((await lost.textContent()) ?? "");
  expect(events[at - 1]).toMatch(/^attempt \d+ failed$/);
});

test("the limit of attempts is not said of a task that no longer has its options", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueue({}, { id: "unlimited", maxAttempts: 0 });
  await (await lease(queue)).requeue({ error: new Error("no answer") });
  const { page } = await rig.visit({ at: `queues/${queue.name}/tasks/unlimited` });
  const attempts = page.locator(".facts div").filter({ hasText: "Attempts" }).locator("dd");
  await expect.poll(() => attempts.textContent()).toBe("1 (1 charged, no limit)");
  await queue.cancel("unlimited");
  await page.reload();
  await expect.poll(() => attempts.textContent()).toBe("1 (1 charged)");
});
