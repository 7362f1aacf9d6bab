import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { block } from "./block.ts";
import { root } from "./named-tests.ts";

// test/package/pack.test.ts runs the first lines of the README, and test/platforms/cloudflare the examples.

test.each([
  ["README.md", "examples/quick-start/worker.ts"],
  ["docs/library/README.md", "examples/first-use/worker.ts"],
])("%s has the code of %s", (page, example) => {
  const code = block(page, "test/documents/readme.test.ts compares this with its example", "ts");
  expect(code).toBe(readFileSync(join(root, example), "utf8").trimEnd());
});
