import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { TaskInfo } from "../../src/index.ts";
import { hold, looks, press, useDashboard } from "./rig.ts";
import { errorNamed, lease, makeDeadLetters } from "./work.ts";

const rig = useDashboard();

/** Confirms the open dialog by its button, and waits until it is closed. */
async function confirm(page: Page, button: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: button, exact: true }).click();
  await dialog.waitFor({ state: "detached" });
}

/** The number of a tile of the queue's screen. */
const tile = (page: Page, name: string) =>
  page
    .locator(".tile")
    .filter({ has: page.getByText(name, { exact: true }) })
    .locator("dd");

const waitForTile = (page: Page, name: string, value: string) =>
  expect.poll(() => tile(page, name).textContent(), { timeout: 10_000 }).toBe(value);

/** The state of a task, or what became of it. */
const stateOf = (task: TaskInfo | null | undefined) => task && [task.state, "reason" in task && task.reason];

describe.each(Object.entries(looks))("in %s", (_, look) => {
  test("a queue grows while its page is open", async () => {
    const queue = rig.queue(rig.name("emails"));
    await queue.enqueue({ number: 0 });
    const { page } = await rig.visit({ ...look, withClock: true, at: `queues/${queue.name}` });
    await waitForTile(page, "pending", "1");
    // Before the clock moves, the page must wait for its next refresh.
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    await queue.enqueueMany(Array.from({ length: 41 }, (_, number) => ({ payload: { number } })));
    await page.clock.fastForward(5_000);
    await waitForTile(page, "pending", "42");
    await expect.poll(() => page.getByRole("row").count()).toBe(43);
    const task = await lease(queue);
    await page.clock.fastForward(5_000);
    await waitForTile(page, "working", "1");
    await task.complete();
  });

  test("a failing task shows what happened to it, and what it carries", async () => {
    const queue = rig.queue(rig.name("emails"), { maxAttempts: 2 });
    await queue.enqueue({ to: "ada@example.com" }, { id: "welcome-17", headers: { trace: "00-4bf92f35" } });
    for (const error of [
      errorNamed("TimeoutError", "no answer within 10 s"),
      errorNamed("MailboxUnavailable", "550 5.1.1 mailbox unavailable"),
    ])
      await (await lease(queue)).requeue({ error });
    const { page } = await rig.visit({ ...look, at: "" });
    await page.getByRole("searchbox", { name: "Name" }).fill(queue.name);
    const list = (name: string) => page.getByRole("table", { name, exact: true });
    await list("Queues").getByRole("link", { name: queue.name, exact: true }).click();
    await page.getByRole("link", { name: /^dead/ }).click();
    await list(`Tasks of ${queue.name}`).getByRole("link", { name: "welcome-17" }).click();
    await page.getByRole("heading", { name: "welcome-17" }).waitFor();
    const timeline = page.getByRole("listitem").filter({ has: page.locator(".event") });
    expect(await timeline.locator(".event").allTextContents()).toEqual([
      "enqueued",
      "attempt 1 begins",
      "attempt 1 failed",
      "pending again",
      "attempt 2 begins",
      "attempt 2 failed",
      "dead: its attempts are used up",
    ]);
    expect(await timeline.locator(".error").allTextContents()).toEqual([
      expect.stringContaining("no answer within 10 s"),
      expect.stringContaining("550 5.1.1 mailbox unavailable"),
    ]);
    expect(await page.getByLabel("Last error").textContent()).toContain("550 5.1.1 mailbox unavailable");
    expect(JSON.parse((await page.getByLabel("Payload", { exact: true }).textContent()) ?? "")).toEqual({
      to: "ada@example.com",
    });
    expect(JSON.parse((await page.getByLabel("Headers").textContent()) ?? "")).toEqual({
      trace: "00-4bf92f35",
    });
    // For a shared screen. The browser keeps the choice.
    await page.getByLabel("Hide payloads").check();
    await expect.poll(() => page.getByText("ada@example.com").count()).toBe(0);
    await page.reload();
    await page.getByText("hidden", { exact: true }).first().waitFor();
    expect(await page.getByText("ada@example.com").count()).toBe(0);
  });

  test("dead letters are found by their error, counted by a dry run, and redriven with progress", async () => {
    const queue = rig.queue(rig.name("webhooks"));
    const operator = rig.operator(queue.name);
    await makeDeadLetters(queue, 1_200, errorNamed("HttpError", "503 from hooks.example.com"));
    const gone = await makeDeadLetters(queue, 3, errorNamed("HttpError", "410 Gone"));
    const { page } = await rig.visit({ ...look, at: `queues/${queue.name}/dead` });
    await waitForTile(page, "dead", "1,203");
    await page.getByLabel("Text of the error").fill("503");
    await page.getByRole("link", { name: "Show all" }).waitFor();
    await press(page, "Redrive all that match…");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("A dry run has found 1,200 dead letters.").waitFor();
    await dialog.getByText("Only those with “503” in the last error or result.").waitFor();
    expect(await queue.counts()).toMatchObject({ rejected: 1_203, pending: 0 });

    // The second request waits, so that the progress of the first is seen.
    const redriving = await hold(page, "**/redrive", 2);
    await dialog.getByRole("button", { name: "Redrive 1,200" }).click();
    await dialog.getByText("1,000 of 1,200").waitFor();
    expect(await dialog.getByRole("progressbar").getAttribute("value")).toBe("1000");
    expect(await queue.counts()).toMatchObject({ rejected: 203, pending: 1_000 });
    redriving.goOn();
    await dialog.waitFor({ state: "detached" });
    await page.getByText(`1,200 dead letters of ${queue.name} redriven.`).waitFor();
    await waitForTile(page, "dead", "3");
    await waitForTile(page, "pending", "1,200");
    expect(await queue.counts()).toMatchObject({ rejected: 3, pending: 1_200 });
    const left = await operator.list({ state: "rejected" });
    expect(left.tasks.map(({ id }) => id).toSorted()).toEqual(gone);
  });

  test("a redrive at a rate lets the dead letters wait for their turn", async () => {
    const queue = rig.queue(rig.name("webhooks"));
    await makeDeadLetters(queue, 20, errorNamed("HttpError", "503"));
    const { page } = await rig.visit({ ...look, at: `queues/${queue.name}/dead` });
    await press(page, "Redrive all…");
    await page.getByText("A dry run has found 20 dead letters.").waitFor();
    await page.getByLabel("Most tasks a second").fill("0.01");
    await page.getByText("The last one becomes pending after about 33m 20s.").waitFor();
    await confirm(page, "Redrive 20");
    const counts = await queue.counts();
    expect(counts.rejected).toBe(0);
    expect(counts.delayed + counts.pending).toBe(20);
    expect(counts.delayed).toBeGreaterThanOrEqual(19);
  });

  test("a task is cancelled, and its record is removed", async () => {
    const queue = rig.queue(rig.name("emails"));
    await queue.enqueue({}, { id: "unwanted" });
    const { page } = await rig.visit({ ...look, at: `queues/${queue.name}/tasks/unwanted` });
    await press(page, "Cancel…");
    await page.getByText("No consumer gets the task.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(stateOf(await queue.get("unwanted"))).toEqual(["pending", false]);
    await press(page, "Cancel…");
    await confirm(page, "Cancel the task");
    await page.getByText("cancelled", { exact: true }).first().waitFor();
    expect(stateOf(await queue.get("unwanted"))).toEqual(["rejected", "cancelled"]);
    await press(page, "Remove…");
    await confirm(page, "Remove");
    await page.getByText("unwanted was removed.").waitFor();
    expect(await queue.get("unwanted")).toBeNull();
  });

  test("a dead letter is redriven alone, and a task is enqueued again with another payload", async () => {
    const queue = rig.queue<{ readonly to: string }>(rig.name("emails"));
    await queue.enqueue({ to: "ada" }, { id: "welcome-1", headers: { trace: "t-1" } });
    await (await lease(queue)).reject(new Error("no such mailbox"));
    const { page, go } = await rig.visit({ ...look, at: `queues/${queue.name}/tasks/welcome-1` });
    await press(page, "Enqueue again…");
    const payload = page.getByLabel("Payload, JSON");
    await payload.fill('{ "to": ');
    await page.getByText("The payload is not JSON").waitFor();
    expect(await page.getByRole("button", { name: "Enqueue", exact: true }).isDisabled()).toBe(true);
    await payload.fill('{ "to": "grace" }');
    await page.getByLabel("Priority").fill("11");
    await page.getByRole("dialog").getByText("It must be a whole number from 0 to 9").waitFor();
    expect(await page.getByRole("button", { name: "Enqueue", exact: true }).isDisabled()).toBe(true);
    await page.getByLabel("Priority").fill("3");
    await confirm(page, "Enqueue");
    await page.getByText(/^Enqueued as /).waitFor();
    const [again] = await queue.dequeue();
    expect(again).toMatchObject({ payload: { to: "grace" }, headers: { trace: "t-1" } });
    expect(await queue.get(again?.id ?? "none")).toMatchObject({ priority: 3 });
    expect(stateOf(await queue.get("welcome-1"))).toEqual(["rejected", "rejected"]);
    await page.getByRole("heading", { name: again?.id ?? "none" }).waitFor();

    await go(`queues/${queue.name}/tasks/welcome-1`);
    await press(page, "Redrive…");
    await confirm(page, "Redrive");
    await page.getByText("welcome-1 was redriven.").waitFor();
    expect(stateOf(await queue.get("welcome-1"))).toEqual(["pending", false]);
  });

  test("statistics are turned on from the queue's screen, which then has a chart", async () => {
    const queue = rig.queue(rig.name("emails"));
    await queue.enqueue({});
    const { page } = await rig.visit({ ...look, at: `queues/${queue.name}` });
    await press(page, "Keep statistics");
    await page.getByText("Tasks a minute", { exact: true }).first().waitFor();
    expect(await rig.operator(queue.name).settings()).toMatchObject({ statistics: true });
  });
});
