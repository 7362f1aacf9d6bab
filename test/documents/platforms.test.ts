// The first task and the failures of the platforms' pages. test/platforms runs the code of each page on its platform.
import { testDeployment } from "sluice-queue/testing";
import { afterEach, expect, test, vi } from "vitest";
import mailService from "../../examples/cloudflare/worker.ts";
import { Page, sharedCommands } from "../platforms/page.ts";
import { consoleLines } from "../support/console-lines.ts";
import { filesOf, pages, textOf } from "./code.ts";
import { firstTaskOf, printedOfFirstTask } from "./first-task-pages.ts";

const platforms = ["cloudflare", "vercel", "lambda", "netlify", "node", "bun", "deno"];

afterEach(() => void vi.restoreAllMocks());

const shared = textOf("docs/platforms/README.md");

/** What failures print. */
function failures(): object[] {
  const [, section = ""] = /\n## When a mail fails\n([\s\S]*?)\n## /.exec(shared) ?? [];
  return Array.from(section.matchAll(/^\{.*\}$/gm), ([line]) => JSON.parse(line) as object);
}

test("failures print what the page says", async () => {
  const lines = consoleLines("warn", "error");
  const answers = [503, 422].map((status) => new Response(null, { status }));
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => answers.shift() ?? new Response());
  const deployment = testDeployment(mailService, { env: { MAIL_URL: "https://mail.test" } });
  for (const to of ["b", "c"]) await deployment.fetch(`/signup?to=${to}@example.com`);
  const [retry, dead] = failures();
  const times = { ranFor: expect.any(Number) as number, dueAt: expect.any(String) as string };
  const stack = expect.stringMatching(/^\w+Error: .*\n +at |^Error: HTTP 503\n +at /) as string;
  expect(lines).toEqual([
    { ...retry, ...times, stack },
    { ...dead, stack },
  ]);
});

test("the first task prints what the pages say", async () => {
  const print = vi.spyOn(console, "log").mockImplementation(() => {});
  const { default: app } = await filesOf("platforms")("cloudflare-first-task.ts");
  const response = await testDeployment(app).fetch("/signup?to=a@example.com");
  expect(Object.keys((await response.json()) as object)).toEqual(["id", "created"]);
  expect(print.mock.calls).toEqual([["a mail to a@example.com"]]);
  const { request, program } = printedOfFirstTask();
  expect(request).toMatch(/^\{"id":"\w{20}","created":true\}$/);
  expect(program).toContain('a mail to a@example.com\n{"drain":"emails","completed":1,');
  for (const platform of platforms) {
    // The same on each platform, except for its entry.
    const [, consumer] = /\/\/ The consumer[\s\S]*?\n\n([\s\S]*?\n {2}\},)/.exec(firstTaskOf(platform)) ?? [];
    expect(firstTaskOf("cloudflare")).toContain(consumer);
  }
});

test("the page of all platforms has no other commands than the platforms' suites type", () => {
  const page = new Page("node");
  const typed = [page.sweep, ...page.deadLetterCommands];
  expect(sharedCommands.filter((line) => !typed.includes(line))).toEqual([]);
  expect(page.deadLetterCommands).toHaveLength(2);
});

test("each page of a platform has less than 100 lines", () => {
  const others = pages.filter((page) => /^docs\/platforms\/(?!README)/.test(page));
  expect(others.length).toBeGreaterThan(6);
  expect(others.filter((page) => textOf(page).split("\n").length > 100)).toEqual([]);
});
