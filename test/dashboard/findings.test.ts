import { describe, expect, test } from "vitest";
import type { Locator } from "playwright-core";
import { expectAccessible, findingOf, findings, looks, press, useDashboard } from "./rig.ts";
import { errorNamed, lease, makeDeadLetters } from "./work.ts";

const rig = useDashboard();
const LONG_AGO = 1_200_000;
const bad = errorNamed("TimeoutError", "mail.example.com does not answer");

/** Tasks that have failed for twenty minutes, one of which is a dead letter. */
async function makeFailing(name: string) {
  const clock = { now: Date.now() - LONG_AGO };
  const queue = rig.queue(name, { now: () => clock.now });
  await queue.enqueueMany(
    [1, 10, 10, 10].map((maxAttempts, i) => ({ id: `${name}-${i}`, payload: i, maxAttempts })),
  );
  const tasks = await queue.dequeue({ max: 4 });
  await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "requeue", error: bad })));
}

/** The mean characters of the lines of a text but the last one. */
const charactersALine = (text: Locator) =>
  text.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const lines = new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size;
    return lines === 1 ? Infinity : (element.textContent ?? "").length / (lines - 0.5);
  });

describe.each(Object.entries(looks))("in %s", (_, look) => {
  test("every queue with a finding is seen above the list, problems first, and its text has long lines", async () => {
    const failing = rig.name("emails");
    await makeFailing(failing);
    const dead = rig.queue(rig.name("orders"));
    await makeDeadLetters(dead, 12, bad);
    const limited = rig.name("thumbnails");
    const early = rig.queue(limited, { now: () => Date.now() - LONG_AGO });
    await early.enqueueMany([{ payload: 1 }, { payload: 2 }].map((one) => ({ ...one, group: "maple" })));
    await rig.operator(limited).configureGroup("maple", { maxWorking: 1 });
    // The second one finds the group at its limit.
    for (let i = 0; i < 2; i++) await rig.queue(limited).dequeue();
    const scheduled = rig.name("invoices");
    await rig.schedules(scheduled).put("nightly", { every: "15m", payload: {}, paused: true });

    const { page } = await rig.visit({ ...look, at: "" });
    const texts = [
      [failing, "failed their last attempt"],
      [dead.name, "12 dead letters"],
      [limited, "wait for its maxWorking 1"],
      [scheduled, "schedule nightly has been paused"],
    ] as const;
    for (const [queue, text] of texts) await findingOf(page, queue, text).waitFor();
    const statuses = await findings(page).locator(".badge").allTextContents();
    expect(statuses).toEqual(statuses.toSorted());
    // What is fine is no finding.
    expect(statuses).not.toContain("ok");
    const most = look.viewport.width < 500 ? 40 : 60;
    const advice = findingOf(page, failing, "failed their last attempt").locator(".advice");
    expect(await charactersALine(advice)).toBeGreaterThan(most);
    await expectAccessible(page, "queues with findings");

    await findingOf(page, limited, "maxWorking")
      .getByRole("button", { name: `Limits of maple… ${limited}` })
      .click();
    await page.getByLabel("Most working tasks").fill("5");
    await press(page, "Change");
    await findingOf(page, limited, "maxWorking").waitFor({ state: "detached" });
    for (const queue of [failing, dead.name, limited, scheduled]) await rig.operator(queue).deleteQueue();
  });
});

test("what many queues have is one line, which opens, and the other findings have place", async () => {
  const names = Array.from({ length: 14 }, () => rig.name("queue"));
  for (const name of names) {
    await rig.queue(name).enqueue({});
    await rig.operator(name).pause();
  }
  const dead = rig.queue(rig.name("orders"));
  await makeDeadLetters(dead, 1, bad);
  const { page, go } = await rig.visit({ at: "" });
  await findingOf(page, dead.name, "1 dead letter").waitFor();
  const [first = "", ...others] = names.toSorted();
  const folded = findingOf(page, first, "The same of");
  const last = folded.getByRole("button", { name: `Resume… ${others.at(-1)}` });
  expect(await last.isVisible()).toBe(false);
  await folded.getByText("The same of 13 other queues").click();
  await last.click();
  await press(page, "Resume");
  await folded.getByText("The same of 12 other queues").waitFor();
  await expectAccessible(page, "folded findings");
  await go("health");
  await page.getByText(/^\d+ findings in \d+ queues\.$/).waitFor();
  await folded.getByText("The same of 12 other queues").waitFor();
  await Promise.all([...names, dead.name].map((name) => rig.operator(name).deleteQueue()));
});

test("failing attempts are found, the queue is paused, and once the cause is fixed its dead letters are redriven", async () => {
  const name = rig.name("emails");
  await makeFailing(name);
  const { page } = await rig.visit({ at: `queues/${name}` });
  const failing = findingOf(page, "", "of 3 tasks looked at, 3 failed their last attempt");
  const dead = findingOf(page, "", "1 dead letter");
  await failing.getByText("problem", { exact: true }).waitFor();
  await failing.getByText("TimeoutError: mail.example.com does not answer").waitFor();
  // A redrive is not the first that is offered.
  expect(await dead.getByRole("button").allTextContents()).toEqual(["Pause…", "Redrive…"]);
  await dead.getByRole("button", { name: `Redrive… ${name}` }).click();
  await page
    .getByText(/^Tasks still fail: of 3 tasks .* If the cause is not fixed, redriven tasks fail again/)
    .waitFor();
  await press(page, "Back");
  await failing.getByRole("button", { name: `Pause… ${name}` }).click();
  await page.getByRole("dialog").getByText("Consumers get no more tasks").waitFor();
  await press(page, "Pause");
  const paused = findingOf(page, "", "paused, with");
  await paused.waitFor();
  expect(await failing.getByRole("button").count()).toBe(0);
  expect(await dead.getByRole("button").allTextContents()).toEqual(["Redrive…"]);

  await paused.getByRole("button", { name: `Resume… ${name}` }).click();
  await press(page, "Resume");
  await paused.waitFor({ state: "detached" });
  const fixed = rig.queue(name);
  await (await lease(fixed)).complete();
  await dead.getByRole("button", { name: `Redrive… ${name}` }).click();
  await page.getByText("A dry run has found 1 dead letter.").waitFor();
  await press(page, "Redrive 1");
  await failing.waitFor({ state: "detached" });
  await dead.waitFor({ state: "detached" });
  expect(await fixed.counts()).toMatchObject({ rejected: 0 });
});

test("before a redrive, new dead letters alone do not mean that tasks still fail", async () => {
  const queue = rig.queue(rig.name("orders"));
  await makeDeadLetters(queue, 2, bad);
  const { page } = await rig.visit({ at: `queues/${queue.name}/dead` });
  await press(page, "Redrive all…");
  const dialog = page.getByRole("dialog");
  await dialog
    .getByText(/^2 dead letters.*\. If the cause is not fixed, redriven tasks fail again\.$/)
    .waitFor();
  expect(await dialog.getByText("still fail").count()).toBe(0);
});
