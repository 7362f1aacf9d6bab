import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { watchReads } from "../../tools/dashboard/screens.ts";
import { useDashboard } from "./rig.ts";

const rig = useDashboard();

/** Counts the requests that read data. */
function countRequests(page: Page) {
  const reads = watchReads(page);
  return {
    get count() {
      return reads.sent;
    },
    /** Waits for that many requests, and until the page has set its next timers. */
    async reach(count: number): Promise<void> {
      await expect.poll(() => reads.sent - reads.open).toBe(count);
      await page.waitForTimeout(100);
      expect(reads.sent).toBe(count);
    },
  };
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
  expect(requests.count).toBe(4);
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
  expect(requests.count).toBe(8);
});

test("a queue that publishes its events is read soon after one of them, while the page is shown", async () => {
  const queue = rig.queue(rig.name("emails"));
  await rig.operator(queue.name).configure({ events: true });
  await queue.enqueue({});
  const { page, go } = await rig.visit({ withClock: true });
  const events = page.waitForResponse((response) => response.url().endsWith("/events"));
  await go(`queues/${queue.name}`);
  await page.getByRole("table").waitFor();
  await events;
  await page.waitForTimeout(300);
  await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  await page.waitForTimeout(300);
  await page.clock.fastForward(1_000);
  await expect.poll(() => page.getByRole("row").count()).toBe(4);
  const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/events"));
  await setHidden(page, true);
  await ended;
  const again = page.waitForRequest((request) => request.url().endsWith("/events"));
  await setHidden(page, false);
  await again;
});

test.each([
  ["de-DE", "Asia/Tokyo"],
  ["en-US", "America/New_York"],
])("times are in the language and time zone of the viewer: %s in %s", async (locale, timezoneId) => {
  const at = Date.UTC(2026, 0, 15, 23, 30, 5);
  const queue = rig.queue(rig.name("emails"), { now: () => at });
  await queue.enqueue({}, { id: "old" });
  const { page, go } = await rig.visit({ locale, timezoneId });
  await go(`queues/${queue.name}/tasks/old`);
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
