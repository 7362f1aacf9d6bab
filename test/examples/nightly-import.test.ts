import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { expectPrice, outputShown } from "./shown.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("../../examples/nightly-import/run.ts", import.meta.url));

test("the nightly import reports what became of all chunks, also of those that failed", async () => {
  const { stdout } = await run(process.execPath, [program]);
  const shown = outputShown("nightly-import");
  const reports = (output: string) => output.replace(/On Upstash.*\n/, "");
  expect(reports(stdout)).toBe(reports(shown));
  for (const output of [shown, stdout]) expectPrice("nightly-import", output, "a nightly import as a");
});
