import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Programs, which print for people. */
const PROGRAMS = /^(?:src\/(?:cli|local|dashboard)|serverless\/\w+\/main\.ts)/;

test("the console is written to in one place only, so that every line goes through the logger", () => {
  const files = globSync(["src/**/*.ts", "serverless/**/*.ts"], { cwd: root });
  const writing = files.filter((file) => {
    const code = readFileSync(`${root}/${file}`, "utf8").replace(/^\s*(?:\*|\/\*\*|\/\/).*$/gm, "");
    return !PROGRAMS.test(file) && /\bconsole\s*[.[]|\bprocess\.std(?:out|err)\b/.test(code);
  });
  expect(writing).toEqual(["src/log/logger.ts"]);
});
