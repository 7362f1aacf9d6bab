/** The screens of the dashboard: where each is, and what is there once it shows its data. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Locator, Page, Request } from "playwright-core";
import type { Gateway } from "../../src/local/index.ts";

export interface Screen {
  readonly name: string;
  /** In the fragment of the URL, such as `queues/emails`. */
  readonly place: string;
  /** Is visible once the screen shows its data. */
  readonly shown: (page: Page) => Locator;
}

export interface ScreenNames {
  readonly queue: string;
  /** The id of one of its tasks. */
  readonly task: string;
  /** A part of the errors of its dead letters. */
  readonly text: string;
}

const STATES = ["pending", "delayed", "working", "completed", "dead"] as const;

/** Every screen but the sign-in. The queue must have tasks in each state, schedules, workers and groups. */
export function screensOf({ queue, task, text }: ScreenNames): Screen[] {
  const table = (name: string) => (page: Page) => page.getByRole("table", { name, exact: true });
  const tasks = table(`Tasks of ${queue}`);
  return [
    { name: "queues", place: "", shown: table("Queues") },
    { name: "queues, most pending first", place: "?order=pending", shown: table("Queues") },
    ...STATES.map((state) => ({
      name: `a queue: ${state} tasks`,
      place: `queues/${queue}/${state}`,
      shown: tasks,
    })),
    {
      name: "a queue: dead letters with a text",
      place: `queues/${queue}/dead?text=${encodeURIComponent(text)}`,
      shown: tasks,
    },
    {
      name: "a queue: schedules",
      place: `queues/${queue}/schedules`,
      shown: table(`Schedules of ${queue}`),
    },
    { name: "a queue: workers", place: `queues/${queue}/workers`, shown: table(`Workers of ${queue}`) },
    { name: "a queue: groups", place: `queues/${queue}/groups`, shown: table(`Groups of ${queue}`) },
    {
      name: "a task",
      place: `queues/${queue}/tasks/${task}`,
      shown: (page) => page.getByRole("heading", { name: "Timeline" }),
    },
    { name: "health", place: "health", shown: (page) => page.getByText(/^\d+ findings? in /) },
    { name: "search", place: `search?text=${task}`, shown: table("Found tasks") },
    { name: "costs", place: "costs", shown: table("Costs by queue") },
  ];
}

export interface ScreenCost {
  /** As Upstash bills them. */
  readonly commands: number;
  /** Requests of the page for data. */
  readonly requests: number;
  /** When the screen showed its data, as `performance.now()`. */
  readonly shownAt: number;
}

/** The requests of a page for data, as they are made. */
export interface Reads {
  sent: number;
  open: number;
  /** When the last one was answered, as `performance.now()`. */
  endedAt: number;
  /** Waits until none is open. */
  settle(): Promise<void>;
}

/** @param isCounted of which of them, by their URL. @default all */
export function watchReads(page: Page, isCounted: (url: string) => boolean = () => true): Reads {
  const reads: Reads = {
    sent: 0,
    open: 0,
    endedAt: 0,
    async settle() {
      while (reads.open > 0) await sleep(10);
    },
  };
  const isRead = (request: Request) => request.url().includes("/dashboard/api/") && isCounted(request.url());
  const end = (request: Request) => {
    if (isRead(request)) [reads.open, reads.endedAt] = [reads.open - 1, performance.now()];
  };
  page.on("request", (request) => {
    if (isRead(request)) [reads.sent, reads.open] = [reads.sent + 1, reads.open + 1];
  });
  page.on("requestfinished", end);
  page.on("requestfailed", end);
  return reads;
}

/** Opens a screen in a new page, and counts what it costs until all its requests are answered. */
export async function costOfScreen(
  page: Page,
  url: string,
  { shown }: Screen,
  gateway: Gateway,
): Promise<ScreenCost> {
  const reads = watchReads(page);
  gateway.resetUsage();
  await page.goto(url);
  await shown(page).first().waitFor();
  const shownAt = performance.now();
  await reads.settle();
  return { commands: gateway.usage().commands, requests: reads.sent, shownAt };
}
