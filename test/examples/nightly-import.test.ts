import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const program = fileURLToPath(new URL("../../examples/nightly-import/run.ts", import.meta.url));

test("the nightly import reports what became of all chunks, also of those that failed", async () => {
  const { stdout } = await run(process.execPath, [program, "--chunks", "14", "--nights", "2"]);
  expect(stdout).toMatch(
    /^night 1: 700 of 700 rows, 0 chunks failed\nnight 2: 600 of 700 rows, 2 chunks failed\nOn Upstash: [\d.]+ requests/,
  );
});
