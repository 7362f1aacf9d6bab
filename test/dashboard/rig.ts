import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, vi } from "vitest";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { Operator, Queue, type QueueOptions, Schedules } from "../../src/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { launchChromium } from "./browser.ts";
import { type DashboardDeployment, deployDashboard, tokens } from "../../tools/dashboard/deployment.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";

const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

/** The windows in which the dashboard is tested. */
export const looks = {
  "a wide window in light colours": { viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  "a window 390 pixels wide in dark colours": { viewport: { width: 390, height: 844 }, colorScheme: "dark" },
} as const satisfies Record<string, BrowserContextOptions>;

/** What the browser reports of the page: errors, warnings, violations of the policy, dialogs of scripts. */
const faultsOf = new WeakMap<BrowserContext, string[]>();

/** Runs in the page before its own script. The message contains all that is needed to find the violation. */
function reportViolations(): void {
  addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) =>
    console.error(`violation of ${violatedDirective}: ${blockedURI} ${sample}`),
  );
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the browser has reported. It must be empty when the test ends. */
  readonly faults: string[];
  /** Opens a place of the page, such as `queues/emails`. */
  go(place: string): Promise<void>;
}

interface VisitOptions extends BrowserContextOptions {
  /** Whose token the session has; null for none. @default "admin" */
  readonly as?: keyof typeof tokens | null;
  /** Whether the test moves the page's clock. @default false */
  readonly withClock?: boolean;
  /** The place to open. @default none */
  readonly at?: string;
  /** The address of another dashboard. @default that of the deployment */
  readonly url?: string;
}

export interface Rig {
  readonly redis: SharedRedis;
  readonly deployment: DashboardDeployment;
  /** A queue name that no other test has. */
  name(start: string): string;
  queue<Payload = unknown>(name: string, options?: Partial<QueueOptions<Payload>>): Queue<Payload>;
  operator(name: string): Operator;
  schedules(name: string): Schedules;
  visit(options?: VisitOptions): Promise<Visit>;
}

/** Registers with vitest: a Redis, a deployment with the dashboard, and a browser. */
export function useDashboard(): Rig {
  const rig = {} as { -readonly [Key in keyof Rig]: Rig[Key] };
  let browser: Browser;
  let transport: ReturnType<typeof resp>;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    rig.redis = await sharedRedis();
    [rig.deployment, browser] = await Promise.all([deployDashboard(rig.redis.url), launchChromium()]);
    transport = resp(rig.redis.url);
  });
  afterEach(async () => {
    const open = contexts.splice(0);
    const faults = open.flatMap((context) => faultsOf.get(context) ?? []);
    await Promise.all(open.map((context) => context.close()));
    expect(faults, "what the browser reported").toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await rig.deployment.close();
    await transport.close();
    await rig.redis.stop();
  });

  let names = 0;
  rig.name = (start) => `${start}-${++names}`;
  rig.queue = (name, options) => new Queue(name, { transport, ...options });
  rig.operator = (name) => new Operator(name, { transport });
  rig.schedules = (name) => new Schedules(name, { transport });
  rig.visit = async ({ as = "admin", withClock = false, at, url = rig.deployment.url, ...options } = {}) => {
    const context = await browser.newContext({ reducedMotion: "reduce", locale: "en-US", ...options });
    context.setDefaultTimeout(60_000);
    contexts.push(context);
    const faults: string[] = [];
    faultsOf.set(context, faults);
    await context.addInitScript(reportViolations);
    await context.addInitScript({ content: axe });
    if (as !== null) {
      const headers = { origin: new URL(url).origin };
      const answer = await context.request.post(`${url}/session`, { data: { token: tokens[as] }, headers });
      expect(answer.status()).toBe(204);
    }
    const page = await context.newPage();
    if (withClock) await page.clock.install();
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) faults.push(`${message.type()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => faults.push(`uncaught: ${error.message}`));
    page.on("dialog", (dialog) => {
      faults.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(url)) faults.push(`request to ${request.url()}`);
    });
    const go = async (place: string) => void (await page.goto(`${url}#/${place}`));
    if (at !== undefined) await go(at);
    return { page, context, faults, go };
  };
  return rig;
}

export const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

export const findings = (page: Page) => page.getByRole("list", { name: "Findings" }).getByRole("listitem");

/** The finding about a queue with that text. */
export const findingOf = (page: Page, queue: string, text: string | RegExp) =>
  findings(page).filter({ hasText: queue }).filter({ hasText: text });

/** Holds the requests to that path, from a given one on, until `goOn` is called. */
export async function hold(page: Page, path: string, from = 1) {
  let goOn = () => {};
  const held = new Promise<void>((resolve) => (goOn = resolve));
  let count = 0;
  await page.route(path, async (route) => {
    if (++count >= from) await held;
    await route.fallback();
  });
  return { goOn: () => goOn(), begun: () => expect.poll(() => count).toBe(from) };
}

/** Takes the reports of refused requests. Chromium makes them some time after the page has the answer. */
export async function takeRefusals(faults: string[], status: string): Promise<void> {
  const refusal = `error: Failed to load resource: the server responded with a status of ${status}`;
  await vi.waitFor(() => expect(new Set(faults)).toEqual(new Set([refusal])));
  faults.length = 0;
}

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Asserts that axe finds nothing, in light and dark colours, and that the page does not scroll sideways. */
export async function expectAccessible(page: Page, screen: string): Promise<void> {
  const isDark = await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches);
  expect(await violationsOf(page, {}), `what axe finds in ${screen}`).toEqual([]);
  // The other colours differ in nothing but contrast.
  await page.emulateMedia({ colorScheme: isDark ? "light" : "dark" });
  const others = await violationsOf(page, { runOnly: ["color-contrast"] });
  await page.emulateMedia({ colorScheme: isDark ? "dark" : "light" });
  expect(others, `what axe finds in ${screen} in its other colours`).toEqual([]);
  await expectNotSideways(page, screen);
}

async function violationsOf(page: Page, options: { readonly runOnly?: readonly string[] }) {
  const wanted = JSON.stringify({ resultTypes: ["violations"], ...options });
  const run = `axe.run(document, ${wanted}).then(({ violations }) => violations)`;
  const violations: readonly Violation[] = await page.evaluate(run);
  return violations.map(({ id, impact, nodes }) => ({
    id,
    impact,
    nodes: nodes.map(({ html, failureSummary = "" }) => `${html.slice(0, 200)} ${failureSummary}`),
  }));
}

/** Asserts that the page does not scroll sideways. */
export async function expectNotSideways(page: Page, screen: string): Promise<void> {
  const pixels = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
  expect(pixels, `pixels by which ${screen} is too wide`).toBe(0);
}
