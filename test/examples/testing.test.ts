// The examples of docs/testing.md, which are tests themselves.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => void vi.restoreAllMocks());

await import("../../examples/testing/queue.test.ts");
await import("../../examples/testing/deployment.test.ts");

const root = fileURLToPath(new URL("../../", import.meta.url));

test.each(["queue", "deployment"])("docs/testing.md shows what examples/testing/%s.test.ts tests", (name) => {
  const example = readFileSync(join(root, `examples/testing/${name}.test.ts`), "utf8");
  const page = readFileSync(join(root, "docs/testing.md"), "utf8");
  const marker = `<!-- test/examples/testing.test.ts runs this code: ${name} -->`;
  const [, code = ""] = new RegExp(`${marker}\n\`\`\`ts\n([\\s\\S]*?)\n\`\`\``).exec(page) ?? [];
  expect(code).not.toBe("");
  // The page shows the first test.
  for (const part of code.split("\n\n")) expect(example).toContain(part);
});
