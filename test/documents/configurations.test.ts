import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const text = (file: string) => readFileSync(join(root, file), "utf8");

interface Vercel {
  readonly crons: readonly object[];
}

// Cron sweeps: retries and dead workers wait until its next run.
describe("each shipped configuration with a cron runs it every minute", () => {
  test.each([
    "wrangler.toml",
    "examples/cloudflare/wrangler.toml",
    "examples/first-use/wrangler.toml",
    "examples/quick-start/wrangler.toml",
  ])("Cloudflare: %s", (file) => {
    expect(text(file)).toMatch(/^\[triggers\]\ncrons = \["\* \* \* \* \*"\]$/m);
  });

  test.each(["serverless/vercel/vercel.json", "examples/vercel/vercel.json"])("Vercel: %s", (file) => {
    const { crons } = JSON.parse(text(file)) as Vercel;
    expect(crons).toEqual([{ path: "/v1/sweep", schedule: "* * * * *" }]);
  });

  test.each(["serverless", "examples"])("Netlify: %s", (folder) => {
    const file = `${folder}/netlify/netlify/functions/cron.mts`;
    expect(text(file).match(/^export const config = .*$/gm)).toEqual([
      'export const config = { schedule: "* * * * *" };',
    ]);
  });

  test.each(["serverless/lambda/serverless.yml", "examples/lambda/serverless.yml"])("Lambda: %s", (file) => {
    expect(text(file).match(/^ +- schedule.*$/gm)).toEqual(["      - schedule: rate(1 minute)"]);
  });

  test.each(["serverless/deno/deno.json", "examples/deno/deno.json"])(
    "Deno, whose entry sets the cron: %s",
    (file) => expect(JSON.parse(text(file))).toMatchObject({ unstable: ["cron"] }),
  );
});

/** Code without its layout, which differs by indentation. */
const tokensOf = (code: string) => code.replaceAll(/\s+/g, "");

const pages = ["docs/dashboard.md", "docs/deployments.md", "docs/offload.md", "docs/testing.md"];

test.each(pages)("all code of %s is type checked", (page) => {
  const blocks = Array.from(text(page).matchAll(/```ts\n([\s\S]*?)\n```/g), ([, code = ""]) => code);
  expect(blocks.length).toBeGreaterThan(2);
  const files = globSync(["test/documents/*.ts", "examples/testing/*.ts"], { cwd: root });
  const checked = files.map((file) => tokensOf(text(file)));
  // A page may show a part of a file: its imports, and some of what follows.
  const isChecked = (block: string) =>
    checked.some((file) => block.split("\n\n").every((part) => file.includes(tokensOf(part))));
  expect(blocks.filter((block) => !isChecked(block))).toEqual([]);
});
