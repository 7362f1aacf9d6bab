// The first task, the failures and the schedule of each platform's page: the same code everywhere, and it prints what
// the page says.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { testDeployment, testQueue } from "sluice-queue/testing";
import { describe, expect, test, vi } from "vitest";
import mailService from "../../examples/cloudflare/worker.ts";
import { firstTaskOf, printedOf } from "./first-task-pages.ts";
import app from "./first-task.ts";
import { root } from "./named-tests.ts";
import { emails as scheduled } from "./schedule.ts";

const code = readFileSync(join(root, "test/documents/first-task.ts"), "utf8").trimEnd();
const enqueued = /^\{"id":"\w{20}","created":true\}$/;

/** What each page writes in place of the Cloudflare code's import, first and last line. */
const variants: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  cloudflare: [],
  vercel: [["export default sluice(", "export const { GET, POST } = sluice("]],
  lambda: [["export default sluice(", "export const handler = sluice("]],
  netlify: [["export default sluice(", "export const welcome = sluice("]],
  ...Object.fromEntries(
    ["node", "bun", "deno"].map((runtime) => [
      runtime,
      [
        ["import { sluice }", "import { serve }"],
        ["export default sluice(", "const { url } = await serve("],
      ],
    ]),
  ),
};

/** What the page says that failures print. */
function failuresOf(platform: string): unknown[] {
  const page = readFileSync(join(root, `docs/platforms/${platform}.md`), "utf8");
  const [, section = ""] = /\n## When a mail fails\n([\s\S]*?)\n## /.exec(page) ?? [];
  return Array.from(section.matchAll(/^\{.*\}$/gm), ([line]) => JSON.parse(line) as unknown);
}

describe.each(Object.keys(variants))("the first task on %s", (platform) => {
  test("has the code that is type checked", () => {
    const own = (variants[platform] ?? []).reduce((text, [from, to]) => text.replace(from, to), code);
    expect(firstTaskOf(platform)).toContain(own.replace("/cloudflare", `/${platform}`));
  });

  test("says what it prints", () => {
    const { request, program } = printedOf(platform);
    expect(request).toMatch(enqueued);
    expect(program).toContain('a mail to a@example.com\n{"drain":"emails","completed":1,');
  });
});

test("failures print what the pages say", async () => {
  const printed: unknown[] = [];
  const print = vi.spyOn(console, "error").mockImplementation((line: string) => {
    printed.push(JSON.parse(line));
  });
  const answers = [503, 422].map((status) => new Response(null, { status }));
  const mailServer = vi.spyOn(globalThis, "fetch").mockImplementation(async () => {
    return answers.shift() ?? new Response();
  });
  const deployment = testDeployment(mailService, { env: { MAIL_URL: "https://mail.test" } });
  for (const to of ["b", "c"]) await deployment.fetch(`/signup?to=${to}@example.com`);
  print.mockRestore();
  mailServer.mockRestore();
  const times = { ranFor: expect.any(Number) as number, dueAt: expect.any(String) as string };
  const [retry, dead] = failuresOf("cloudflare") as [object, object];
  const stack = expect.stringMatching(/^\w+Error: .*\n +at |^Error: HTTP 503\n +at /) as string;
  expect(printed).toEqual([
    { ...retry, ...times, stack },
    { ...dead, stack },
  ]);
  for (const platform of Object.keys(variants)) expect(failuresOf(platform)).toEqual([retry, dead]);
});

test("the pages show a schedule that is type checked, and occurs when they say", async () => {
  const checked = readFileSync(join(root, "test/documents/schedule.ts"), "utf8");
  for (const platform of Object.keys(variants)) {
    const page = readFileSync(join(root, `docs/platforms/${platform}.md`), "utf8");
    const [, section = ""] = /\n## A schedule\n([\s\S]*?)\n## /.exec(page) ?? [];
    const [, shown = "none"] = /```ts\n([\s\S]*?)\n```/.exec(section) ?? [];
    expect(checked).toContain(shown);
  }
  // A Sunday.
  const queue = testQueue(scheduled, { now: new Date("2026-11-22T12:00:00Z") });
  await queue.advance("7d");
  const at = (await queue.tasks()).map(({ headers }) =>
    new Date(Number(headers?.["scheduled-at"])).toISOString(),
  );
  expect(at).toEqual(["2026-11-23T08:00:00.000Z"]);
});

test("the first task prints what the pages say", async () => {
  const print = vi.spyOn(console, "log").mockImplementation(() => {});
  const deployment = testDeployment(app);
  const response = await deployment.fetch("/signup?to=a@example.com");
  expect(await response.text()).toMatch(enqueued);
  expect(print.mock.calls).toEqual([["a mail to a@example.com"]]);
  print.mockRestore();
});
