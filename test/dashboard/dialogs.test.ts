import { expect, test, vi } from "vitest";
import type { Page } from "playwright-core";
import { hold, press, takeRefusals, useDashboard } from "./rig.ts";
import { lease, makeDeadLetters } from "./work.ts";

const rig = useDashboard();

/** Lets the next request of that path reach the server, and loses its answer. */
async function loseAnswer(page: Page, path: string): Promise<void> {
  await page.route(
    path,
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
}

test("a redrive in bulk leaves what a consumer rejected for good, unless the filter has the reason", async () => {
  const queue = rig.queue(rig.name("emails"));
  await makeDeadLetters(queue, 2, new Error("no such mailbox"));
  await queue.enqueue({}, { id: "final" });
  await (await lease(queue)).reject("no");
  const { page } = await rig.visit({ at: `queues/${queue.name}/dead` });
  await press(page, "Redrive all…");
  await page.getByText("A dry run has found 2 dead letters.").waitFor();
  const all = page.getByLabel("Also those that a consumer rejected for good");
  await all.check();
  await page.getByText("A dry run has found 3 dead letters.").waitFor();
  await all.uncheck();
  await press(page, "Redrive 2");
  await page.getByText(`2 dead letters of ${queue.name} redriven.`).waitFor();
  await page.getByLabel("Reason").selectOption("rejected");
  await press(page, "Redrive all that match…");
  await press(page, "Redrive 1");
  await page.getByText(`1 dead letter of ${queue.name} redriven.`).waitFor();
  expect(await queue.counts()).toMatchObject({ pending: 3, rejected: 0 });
});

test("an answer that comes after its dialog was closed does not close a newer dialog", async () => {
  const queue = rig.queue(rig.name("emails"));
  await makeDeadLetters(queue, 2, new Error("no such mailbox"));
  const { page, faults } = await rig.visit({ at: `queues/${queue.name}/dead` });
  const pausing = await hold(page, "**/pause");
  await press(page, "Pause…");
  await press(page, "Pause");
  await pausing.begun();
  await press(page, "Back");
  await press(page, "Enqueue…");
  pausing.goOn();
  await page.getByText(`${queue.name} is paused.`).waitFor();
  await page.getByRole("heading", { name: `Enqueue a task in ${queue.name}` }).waitFor();
  await press(page, "Back");

  const redriving = await hold(page, "**/redrive", 2);
  await press(page, "Redrive all…");
  await press(page, "Redrive 2");
  await redriving.begun();
  await press(page, "Stop");
  await press(page, "Purge all…");
  redriving.goOn();
  await page.getByText(`2 dead letters of ${queue.name} redriven.`).waitFor();
  await page.getByText("All dead tasks of the queue.").waitFor();
  await press(page, "Back");

  // Its failure is not lost.
  await page.route("**/resume", (route) => route.fulfill({ status: 503, body: "" }));
  const resuming = await hold(page, "**/resume");
  await press(page, "Resume…");
  await press(page, "Resume");
  await resuming.begun();
  await press(page, "Back");
  resuming.goOn();
  await page.getByRole("status").getByText("The server responded with 503.").waitFor();
  await takeRefusals(faults, "503 (Service Unavailable)");
});

test("a purge stops when the viewer leaves, and says how many tasks it has purged", async () => {
  const queue = rig.queue(rig.name("emails"));
  await makeDeadLetters(queue, 2_500, new Error("no such mailbox"));
  const { page } = await rig.visit({ at: `queues/${queue.name}/dead` });
  const purging = await hold(page, "**/purge", 2);
  await press(page, "Purge all…");
  await press(page, "Purge");
  await page.getByText("1,000 purged so far.").waitFor();
  await purging.begun();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
  await page.evaluate(() => (location.hash = "#/"));
  await page.getByRole("heading", { name: "Queues" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  purging.goOn();
  await page.getByText(`2,000 tasks of ${queue.name} purged, then stopped.`).waitFor();
  expect(await queue.counts()).toMatchObject({ rejected: 500 });
});

test("some pending tasks are purged only within a group", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueueMany([{ payload: 1 }, { payload: 2, group: "acme" }, { payload: 3, delay: "1h" }]);
  const { page, go } = await rig.visit({ at: `queues/${queue.name}/pending?since=2020-01-01T00:00` });
  await press(page, "Purge all that match…");
  const purge = page.getByRole("button", { name: "Purge", exact: true });
  await page.getByRole("dialog").getByText("only within a group").waitFor();
  expect(await purge.isDisabled()).toBe(true);
  await press(page, "Back");
  await go(`queues/${queue.name}/pending?since=2020-01-01T00:00&group=acme`);
  await press(page, "Purge all that match…");
  await purge.click();
  await page.getByText(`1 task of ${queue.name} purged.`).waitFor();
  expect(await queue.counts()).toMatchObject({ pending: 1, delayed: 1 });
});

test("an enqueue whose answer was lost is repeated without a second task", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueue({ number: 0 });
  const { page, faults } = await rig.visit({ at: `queues/${queue.name}` });
  await press(page, "Enqueue…");
  await page.getByLabel("Payload, JSON").fill('{ "number": 1 }');
  await loseAnswer(page, "**/tasks");
  await press(page, "Enqueue");
  await page.getByText("The server cannot be reached.").waitFor();
  await press(page, "Enqueue");
  await page.getByText(/^Enqueued as /).waitFor();
  expect(await queue.counts()).toMatchObject({ pending: 2 });

  // With other values it would be another task.
  await press(page, "Enqueue…");
  await page.getByLabel("Payload, JSON").fill('{ "number": 2 }');
  await loseAnswer(page, "**/tasks");
  await press(page, "Enqueue");
  await page.getByText("The server cannot be reached.").waitFor();
  await page.getByLabel("Payload, JSON").fill('{ "number": 3 }');
  await press(page, "Enqueue");
  await page.getByText("The first try did enqueue a task").waitFor();
  expect(await queue.counts()).toMatchObject({ pending: 3 });
  await press(page, "Enqueue");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const tasks = await queue.dequeue({ max: 10 });
  expect(tasks.map(({ payload }) => payload)).toEqual([0, 1, 2, 3].map((number) => ({ number })));
  const reports = [
    "error: Failed to load resource: net::ERR_FAILED",
    "error: Failed to load resource: net::ERR_FAILED",
    "error: Failed to load resource: the server responded with a status of 409 (Conflict)",
  ];
  await vi.waitFor(() => expect(faults.toSorted()).toEqual(reports));
  faults.length = 0;
});

test("a cancel acts on the attempt that the page shows, and says what became of the task", async () => {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueue({}, { id: "moving" });
  const { page, faults } = await rig.visit({ withClock: true, at: `queues/${queue.name}/tasks/moving` });
  await press(page, "Cancel…");
  await page.getByText("No consumer gets the task.").waitFor();
  const task = await lease(queue);
  await press(page, "Cancel the task");
  await page.getByText("The task has begun another attempt meanwhile").waitFor();
  expect(await queue.get("moving")).toMatchObject({ state: "working" });
  expect(await queue.get("moving")).not.toHaveProperty("cancelRequested");
  // The dialog knows it by now.
  const effect = await page.getByText("Its consumer is asked to stop when it next extends").textContent();
  expect(effect).toContain("if the consumer is dead, the task is cancelled when its lease ends");
  expect(effect).toContain(
    "The payload and errors of a cancelled task are deleted, and it cannot be redriven",
  );
  // The task waits again, under the same lease number.
  await task.requeue({ error: new Error("no answer") });
  await press(page, "Cancel the task");
  await page.getByText("moving was cancelled.").waitFor();
  expect(await queue.get("moving")).toMatchObject({ state: "rejected", reason: "cancelled" });
  await takeRefusals(faults, "409 (Conflict)");
});
