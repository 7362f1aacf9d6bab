// Draws the pictures of the dashboard in docs/pictures, of an hour of seeded work on the embedded store.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { upstash } from "../../src/transports/upstash.ts";
import { launchChromium } from "./browser.ts";
import { deployDashboard, tokens } from "../../tools/dashboard/deployment.ts";
import { seed } from "../../tools/dashboard/seed.ts";

const folder = join(import.meta.dirname, "../../docs/pictures");

interface Picture {
  readonly name: string;
  readonly place: string;
  readonly look?: BrowserContextOptions;
  /** Brings the page into the state of the picture. */
  readonly prepare: (page: Page) => Promise<unknown>;
}

const TALL = { viewport: { width: 1280, height: 880 } } as const;
const DARK = { ...TALL, colorScheme: "dark" } as const;
const PHONE = { viewport: { width: 390, height: 844 } } as const;

const table = (name: string) => (page: Page) => page.getByRole("table", { name, exact: true }).waitFor();

const pictures: readonly Picture[] = [
  { name: "queues", place: "", prepare: table("Queues") },
  { name: "queue", place: "queues/webhooks", look: TALL, prepare: table("Tasks of webhooks") },
  {
    name: "task",
    place: "queues/webhooks/dead",
    async prepare(page) {
      // One that has failed more than once.
      const list = page.getByRole("table", { name: "Tasks of webhooks", exact: true });
      await list.waitFor();
      const row = list.getByRole("row").filter({ hasText: "attempts exhausted" }).first();
      await ((await row.count()) > 0 ? row : list).getByRole("link").first().click();
      await page.getByRole("heading", { name: "Timeline" }).waitFor();
    },
  },
  {
    name: "dead",
    place: "queues/webhooks/dead",
    async prepare(page) {
      await table("Dead letters of webhooks by cause")(page);
      const list = page.getByRole("table", { name: "Tasks of webhooks", exact: true });
      await list.waitFor();
      const boxes = list.getByRole("checkbox");
      await boxes.nth(0).check();
      await boxes.nth(1).check();
      await page
        .getByRole("navigation", { name: /^Tasks by state/ })
        .evaluate((tabs) => tabs.scrollIntoView());
    },
  },
  { name: "dark", place: "queues/webhooks", look: DARK, prepare: table("Tasks of webhooks") },
  { name: "phone", place: "?order=dead", look: PHONE, prepare: table("Queues") },
];

async function draw(browser: Browser, url: string, { name, place, look, prepare }: Picture): Promise<void> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 720 },
    reducedMotion: "reduce",
    locale: "en-US",
    timezoneId: "UTC",
    ...look,
  });
  const headers = { origin: new URL(url).origin };
  await context.request.post(`${url}/session`, { data: { token: tokens.admin }, headers });
  const page = await context.newPage();
  await page.goto(`${url}#/${place}`);
  await prepare(page);
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path, animations: "disabled", caret: "hide" });
  await context.close();
  console.log(`docs/pictures/${name}.png: ${Math.round(statSync(path).size / 1_000)} KB`);
}

mkdirSync(folder, { recursive: true });
const deployment = await deployDashboard();
const { gateway, url } = deployment;
await seed(upstash({ url: gateway.url, token: gateway.token }), Date.now());
const browser = await launchChromium();
for (const picture of pictures) await draw(browser, url, picture);
await browser.close();
await deployment.close();
