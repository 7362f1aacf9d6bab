import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, extname, join, posix } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium, type Page } from "../test/dashboard/browser.ts";
import { placeOf, REFERENCE, tree } from "./tree.ts";

// tools/test-site.mjs has built the site.
const dist = join(import.meta.dirname, "dist");
const places = [...tree.flatMap(({ pages }) => pages.map(placeOf)), REFERENCE];
const files = places.map((place) => place.replace(/\.md$/, ".html"));
const html = new Map(files.map((file) => [file, readFileSync(join(dist, file), "utf8")]));

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

let server: Server;
let browser: Awaited<ReturnType<typeof launchChromium>>;
let origin: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://site.test");
    const file = join(dist, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    if (!existsSync(file)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    return response.end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  server.close();
});

/** A page of the browser, and which requests it made elsewhere or in vain. */
async function open(options: Parameters<typeof browser.newContext>[0] = {}) {
  const context = await browser.newContext(options);
  const page: Page = await context.newPage();
  const wrong: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith("data:")) wrong.push(request.url());
  });
  page.on("response", (response) => {
    if (response.status() !== 200) wrong.push(`${response.status()} ${response.url()}`);
  });
  page.on("pageerror", (error) => wrong.push(error.message));
  return { page, wrong, close: () => context.close() };
}

test("each link leads to a page of the site, and to a heading that is there", () => {
  const lost: string[] = [];
  let count = 0;
  for (const [file, text] of html)
    for (const [, href = ""] of text.matchAll(/<a[^>]* href="([^"]+)"/g)) {
      if (/^(?:https?|mailto):/.test(href)) continue;
      count++;
      const [path = "", id] = href.split("#");
      const target = path === "" ? file : posix.join(path.startsWith("/") ? "" : dirname(file), path);
      const name = target.replace(/^\//, "").replace(/(?:^|\/)$/, (slash) => `${slash}index.html`);
      const found = html.get(name);
      const isThere = found === undefined ? existsSync(join(dist, name)) : id === undefined;
      const isHeading = found?.includes(` id="${decodeURIComponent(id ?? "")}"`) ?? false;
      if (!isThere && !isHeading) lost.push(`${file}: ${href}`);
    }
  expect(count).toBeGreaterThan(2_000);
  expect(lost).toEqual([]);
});

test("llms.txt lists each page, as Markdown that the site serves", () => {
  const rows = Array.from(
    readFileSync(join(dist, "llms.txt"), "utf8").matchAll(/^- \[(.+)\]\((.+)\): (.+)$/gm),
    ([, , place = ""]) => place,
  );
  expect(rows.toSorted()).toEqual(places.toSorted());
  expect(rows.filter((place) => !existsSync(join(dist, place)))).toEqual([]);
});

test("the search finds a page, and opens it at the heading", async () => {
  const { page, wrong, close } = await open();
  await page.goto(`${origin}/`, { waitUntil: "networkidle" });
  await page.getByRole("button", { name: "Search" }).click();
  await page.locator("#localsearch-input").fill("redrive dead letters");
  await page.locator(".VPLocalSearchBox .result").first().waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\.html#/);
  expect(await page.locator("main h1").count()).toBe(1);
  expect(wrong).toEqual([]);
  await close();
});

test("the switch of the dark mode makes the page dark, and keeps it so", async () => {
  const { page, close } = await open({ colorScheme: "light" });
  const isDark = () => page.evaluate(() => document.documentElement.classList.contains("dark"));
  await page.goto(`${origin}/concepts.html`);
  expect(await isDark()).toBe(false);
  await page.getByRole("switch").first().click();
  expect(await isDark()).toBe(true);
  await page.goto(`${origin}/costs.html`);
  expect(await isDark()).toBe(true);
  await close();
});

test("the reference has each route of the OpenAPI document", async () => {
  const { openapi } = await import("../src/http/docs/openapi.gen.ts");
  const text = html.get(REFERENCE.replace(".md", ".html")) ?? "";
  const routes = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const headings = Array.from(text.matchAll(/<h3[^>]*>(.*?)<a /g), ([, heading = ""]) => heading.trim());
  expect(routes.length).toBeGreaterThan(35);
  expect(routes.filter((route) => !headings.includes(route))).toEqual([]);
});

test("each page is no wider than a phone of 390 pixels, and asks for nothing elsewhere", async () => {
  const { page, wrong, close } = await open({ viewport: { width: 390, height: 844 } });
  const wide: string[] = [];
  for (const file of files) {
    await page.goto(`${origin}/${file}`, { waitUntil: "load" });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 390) wide.push(`${file}: ${width}`);
  }
  expect(wide).toEqual([]);
  expect(wrong).toEqual([]);
  await close();
});
