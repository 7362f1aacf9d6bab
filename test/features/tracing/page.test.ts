import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../documents/named-tests.ts";

const page = readFileSync(join(root, "docs/tracing.md"), "utf8");

test("the code of the page on traces is the one that is type checked, and that workerd runs", () => {
  const blocks = Array.from(page.matchAll(/<!-- (test\/\S+) -->\n```ts\n([\s\S]*?)\n```/g));
  expect(blocks.map(([, file]) => file)).toEqual([
    "test/features/tracing/documented/node.ts",
    "test/features/tracing/documented/worker.ts",
  ]);
  for (const [, file = "", code] of blocks) expect(`${code}\n`).toBe(readFileSync(join(root, file), "utf8"));
});

test("the page on traces has each attribute of the spans", () => {
  const source = ["attributes", "open-telemetry", "span-end"]
    .map((name) => readFileSync(join(root, `src/features/tracing/${name}.ts`), "utf8"))
    .join("");
  const names = new Set(
    Array.from(source.matchAll(/["`]((?:messaging|error)\.[a-z_.]+)/g), ([, name = ""]) => name),
  );
  expect(names.size).toBeGreaterThan(8);
  expect([...names].filter((name) => !page.includes(`\`${name}`))).toEqual([]);
});
