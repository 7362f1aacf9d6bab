import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pages, textOf } from "../documents/code.ts";
import { root } from "../documents/named-tests.ts";
import { runHere } from "./run-here.ts";

const docs = (...args: string[]) => runHere(["docs", ...args], {});

test("the list has each page of docs with its title", async () => {
  const { rows, code } = await docs();
  const packed = pages.filter((page) => page.startsWith("docs/"));
  expect(code).toBe(0);
  expect(rows.map(({ path }: { path: string }) => path).toSorted()).toEqual(
    packed.map((page) => join(root, page)).toSorted(),
  );
  expect(rows).toContainEqual({
    page: "library/schedules",
    title: "Schedules",
    path: join(root, "docs/library/schedules.md"),
  });
  const { text } = await runHere(["docs"], {}, { terminal: true });
  expect(text).toMatch(/^PAGE +TITLE\nREADME +Documentation\n/);
});

test.each([
  ["schedules", "docs/library/schedules.md"],
  ["library/queues", "docs/library/queues.md"],
  ["Cloudflare", "docs/platforms/cloudflare.md"],
  ["platforms", "docs/platforms/README.md"],
  ["README", "docs/README.md"],
  ["costs.md", "docs/costs.md"],
  ["next", "docs/platforms/nextjs.md"],
])("%s is %s", async (name, page) => {
  expect(await docs(name)).toMatchObject({ code: 0, out: textOf(page), err: "" });
  expect(await docs(name, "--path")).toMatchObject({ code: 0, out: `${join(root, page)}\n` });
});

test("a name of no page, or of several, is refused with the pages that are near", async () => {
  expect(await docs("schedule")).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      "no page has the name schedule: library/schedules, recipes/scheduled-reports",
    ) as string,
  });
  expect(await docs("nothing-like-it")).toMatchObject({
    code: 1,
    err: "sluice: no page has the name nothing-like-it; see `sluice docs`\n",
  });
  expect(await docs("operatng")).toMatchObject({
    code: 1,
    err: "sluice: no page has the name operatng; did you mean operating?\n",
  });
});

test("a word of no page leads to the sections whose headings have it", async () => {
  const { code, err } = await docs("dead-lett");
  expect(code).toBe(1);
  const [, sections = ""] =
    /^sluice: no page has the name dead-lett; these sections have it: (.*)\n$/.exec(err) ?? [];
  expect(sections.split(" ")).toContain("operating#dead-letters");
  expect((await docs("operating#dead-letters")).out).toMatch(/^#+ Dead letters\n/);
});

test("with an anchor, only that section is printed; a page without it is printed whole", async () => {
  const page = textOf("docs/operating.md");
  const { out } = await docs("docs/operating.md#dead-letters");
  expect(page).toContain(out.trimEnd());
  const [heading = "", ...others] = out.split("\n").filter((line) => /^#+ /.test(line));
  expect([
    heading.replace(/^#+ /, ""),
    others.filter((line) => !line.startsWith(`${heading.split(" ")[0]}#`)),
  ]).toEqual(["Dead letters", []]);
  expect(await docs("operating#no-such-heading")).toMatchObject({ code: 0, out: page });
});

test("without a screen, --open prints the path", async () => {
  const { out, code } = await docs("alerts", "--open");
  expect(code).toBe(0);
  expect(readFileSync(out.trim(), "utf8")).toMatch(/^# Alerts\n/);
});
