// The first task and the failures of the platforms' pages. test/platforms runs the code of each page on its platform.
import { testDeployment } from "sluice-queue/testing";
import { afterEach, expect, test, vi } from "vitest";
import mailService from "../../examples/cloudflare/worker.ts";
import { filesOf, textOf } from "./code.ts";
import { firstTaskOf, printedOf } from "./first-task-pages.ts";

const platforms = ["cloudflare", "vercel", "lambda", "netlify", "node", "bun", "deno"];

afterEach(() => void vi.restoreAllMocks());

/** What the page says that failures print. */
function failuresOf(platform: string): object[] {
  const [, section = ""] =
    /\n## When a mail fails\n([\s\S]*?)\n## /.exec(textOf(`docs/platforms/${platform}.md`)) ?? [];
  return Array.from(section.matchAll(/^\{.*\}$/gm), ([line]) => JSON.parse(line) as object);
}

test("failures print what the pages say", async () => {
  const print = vi.spyOn(console, "error").mockImplementation(() => {});
  const answers = [503, 422].map((status) => new Response(null, { status }));
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => answers.shift() ?? new Response());
  const deployment = testDeployment(mailService, { env: { MAIL_URL: "https://mail.test" } });
  for (const to of ["b", "c"]) await deployment.fetch(`/signup?to=${to}@example.com`);
  const [retry, dead] = failuresOf("cloudflare");
  const times = { ranFor: expect.any(Number) as number, dueAt: expect.any(String) as string };
  const stack = expect.stringMatching(/^\w+Error: .*\n +at |^Error: HTTP 503\n +at /) as string;
  expect(print.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown)).toEqual([
    { ...retry, ...times, stack },
    { ...dead, stack },
  ]);
  for (const platform of platforms) expect(failuresOf(platform)).toEqual([retry, dead]);
});

test("the first task prints what the pages say", async () => {
  const print = vi.spyOn(console, "log").mockImplementation(() => {});
  const { default: app } = await filesOf("platforms")("cloudflare-first-task.ts");
  const response = await testDeployment(app).fetch("/signup?to=a@example.com");
  expect(Object.keys((await response.json()) as object)).toEqual(["id", "created"]);
  expect(print.mock.calls).toEqual([["a mail to a@example.com"]]);
  for (const platform of platforms) {
    const { request, program } = printedOf(platform);
    expect(request).toMatch(/^\{"id":"\w{20}","created":true\}$/);
    expect(program).toContain('a mail to a@example.com\n{"drain":"emails","completed":1,');
    // The same on each platform, except for its entry.
    const [, consumer] = /\/\/ The consumer[\s\S]*?\n\n([\s\S]*?\n {2}\},)/.exec(firstTaskOf(platform)) ?? [];
    expect(firstTaskOf("cloudflare")).toContain(consumer);
  }
});
