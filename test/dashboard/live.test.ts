import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { watchReads } from "./screens.ts";
import { hold, takeRefusals, useDashboard } from "./rig.ts";

const rig = useDashboard();

/** The requests that read data. */
function countRequests(page: Page) {
  // Health is read by a clock of its own: see health.test.ts.
  const reads = watchReads(page, (url) => !url.includes("/health/"));
  return Object.assign(reads, {
    /** Waits for that many requests, and until the page has set its next timers. */
    async reach(count: number): Promise<void> {
      await expect.poll(() => reads.sent - reads.open).toBe(count);
      await page.waitForTimeout(100);
      expect(reads.sent).toBe(count);
    },
  });
}

/** Makes the page believe that it is in the background, or that it is shown again. */
const setHidden = (page: Page, hidden: boolean) =>
  page.evaluate((value) => {
    Object.defineProperty(document, "hidden", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);

async function open() {
  const queue = rig.queue(rig.name("emails"));
  await queue.enqueue({});
  const visit = await rig.visit({ withClock: true });
  const requests = countRequests(visit.page);
  await visit.go(`queues/${queue.name}`);
  // The queue, and its tasks.
  await requests.reach(2);
  return { ...visit, requests };
}

test("the page reads nothing while it is in the background, and reads at once when it is shown again", async () => {
  const { page, requests } = await open();
  await page.clock.runFor(5_000);
  await requests.reach(4);
  await setHidden(page, true);
  await page.clock.runFor(3_600_000);
  expect(requests.sent).toBe(4);
  await setHidden(page, false);
  await requests.reach(6);
  await page.clock.runFor(60_000);
  await requests.reach(8);
});

test("the page reads less often while it gets no input, and not at all without Live", async () => {
  const { page, requests } = await open();
  await page.clock.fastForward(61_000);
  await requests.reach(4);
  await page.clock.fastForward(5_000);
  await requests.reach(4);
  await page.clock.fastForward(5_000);
  await requests.reach(6);
  await page.getByLabel("Live").uncheck();
  await requests.reach(8);
  await page.clock.runFor(600_000);
  expect(requests.sent).toBe(8);
});

test("a page that is hidden and shown again while a request is under way sends no second one", async () => {
  const { page, requests } = await open();
  const { goOn } = await hold(page, "**/dashboard/api/**");
  await page.clock.fastForward(5_000);
  await expect.poll(() => requests.sent).toBe(4);
  await setHidden(page, true);
  await setHidden(page, false);
  await page.waitForTimeout(100);
  expect(requests.sent).toBe(4);
  goOn();
  await requests.reach(4);
  await page.clock.fastForward(5_000);
  await requests.reach(6);
});

test("the page asks a server that fails less often, and shows what it had", async () => {
  const { page, faults, requests } = await open();
  await page.route("**/dashboard/api/**", (route) => route.fulfill({ status: 503, body: "" }));
  await page.clock.fastForward(5_000);
  await requests.reach(4);
  await page.getByText("The last refresh failed: The server responded with 503.").first().waitFor();
  expect(await page.getByRole("row").count()).toBe(2);
  // The interval grows, although there was input.
  await page.keyboard.press("Shift");
  await page.clock.fastForward(5_000);
  await requests.reach(4);
  await page.clock.fastForward(2_500);
  await requests.reach(6);
  await page.unroute("**/dashboard/api/**");
  await page.keyboard.press("Shift");
  await page.clock.fastForward(11_250);
  await requests.reach(8);
  await page.getByText("The last refresh failed").first().waitFor({ state: "detached" });
  await page.clock.fastForward(5_000);
  await requests.reach(10);
  await takeRefusals(faults, "503 (Service Unavailable)");
});

/** A queue that publishes its events, and its page, once it follows them. */
async function openWithEvents(place = "") {
  const queue = rig.queue(rig.name("emails"));
  await rig.operator(queue.name).configure({ events: true });
  await queue.enqueueMany(Array.from({ length: 51 }, (_, i) => ({ payload: i })));
  const visit = await rig.visit({ withClock: true });
  const requests = countRequests(visit.page);
  const events = visit.page.waitForResponse((response) => response.url().endsWith("/events"));
  await visit.go(`queues/${queue.name}${place}`);
  await visit.page.getByRole("table").waitFor();
  await events;
  await visit.page.waitForTimeout(300);
  const happen = async () => {
    await queue.enqueue({});
    // Until the event has reached the page.
    await visit.page.waitForTimeout(300);
  };
  return { ...visit, queue, requests, happen };
}

test("a queue that publishes its events is read soon after one of them, while the page is shown", async () => {
  const { page, happen } = await openWithEvents();
  await page.getByRole("link", { name: /^pending.*51/ }).waitFor();
  await happen();
  await page.clock.fastForward(1_000);
  await page.getByRole("link", { name: /^pending.*52/ }).waitFor();
  const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/events"));
  await setHidden(page, true);
  await ended;
  const again = page.waitForRequest((request) => request.url().endsWith("/events"));
  await setHidden(page, false);
  await again;
});

test("after an event the page shows its tasks until the new ones are there, and stays where it is", async () => {
  const { page, queue, happen } = await openWithEvents("/pending?since=2020-01-01T00:00");
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByText("Page 2").waitFor();
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  const { goOn } = await hold(page, "**/tasks?*");
  const asked = page.waitForRequest(/\/tasks\?/);
  await happen();
  await page.clock.fastForward(1_000);
  await asked;
  await page.waitForTimeout(100);
  expect(await page.getByRole("row").count()).toBe(2);
  expect(await page.getByText("Loading…").count()).toBe(0);
  goOn();
  await expect.poll(() => page.getByRole("row").count()).toBe(3);
  await page.getByText("Page 2").waitFor();
  expect(await page.getByLabel("Enqueued since").inputValue()).toBe("2020-01-01T00:00");
  expect(await queue.counts()).toMatchObject({ pending: 52 });
});

test("a stream of events makes the page read no more often than without events", async () => {
  const { page, requests, happen } = await openWithEvents();
  // The queue, its tasks and its events, of which the answer never ends.
  expect([requests.sent, requests.open]).toEqual([3, 1]);
  await happen();
  await page.clock.fastForward(1_000);
  await expect.poll(() => requests.sent).toBe(5);
  for (let second = 0; second < 3; second++) {
    await happen();
    await page.clock.fastForward(500);
  }
  await page.waitForTimeout(100);
  expect(requests.sent).toBe(5);
  // What happened last is not forgotten.
  await page.clock.fastForward(3_000);
  await expect.poll(() => requests.sent).toBe(7);
  await page.getByRole("link", { name: /^pending.*55/ }).waitFor();
});

test.each([
  ["de-DE", "Asia/Tokyo"],
  ["en-US", "America/New_York"],
])("times are in the language and time zone of the viewer: %s in %s", async (locale, timezoneId) => {
  const at = Date.UTC(2026, 0, 15, 23, 30, 5);
  const queue = rig.queue(rig.name("emails"), { now: () => at });
  await queue.enqueue({}, { id: "old" });
  const { page } = await rig.visit({ locale, timezoneId, at: `queues/${queue.name}/tasks/old` });
  const time = page.getByRole("listitem").filter({ hasText: "enqueued" }).getByRole("time");
  const format = new Intl.DateTimeFormat(locale, {
    dateStyle: "medium",
    timeStyle: "medium",
    timeZone: timezoneId,
  });
  const plain = (text: string | null) => text?.replaceAll(/\s/g, " ");
  expect(plain(await time.textContent())).toBe(plain(format.format(at)));
  expect(await time.getAttribute("datetime")).toBe("2026-01-15T23:30:05.000Z");
});
