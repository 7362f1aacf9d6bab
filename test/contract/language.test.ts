import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What has to be read twice, and what to write instead. */
const refused: readonly (readonly [RegExp, string])[] = [
  [/\bbut for\b/i, "except"],
  [/\btells\b|(?<!can |cannot )\btell\b|\btold\b/i, "returns, reports, logs; reported"],
  [/\bstands?\b(?!-(?:in|alone))/i, "is"],
  [/\bbeyond reading\b/i, "invalid, cannot be read"],
  [/\bof no use\b/i, "unused, invalid"],
  [/\bhowever often\b/i, "each time"],
  [/\bwhoever\b|\bnobody\b|\bsomebody\b/i, "the queue, a consumer, a producer"],
  [/\bas it comes\b/i, "in no order, unchanged"],
  [/\bhow-manyth\b/i, "number, from 1"],
  [/\bis no option\b/i, "unknown option; expected one of …"],
  [/\bin (?:the|its|their|your) hands\b/i, "leased by"],
  [/\b(?:un)?heed(?:s|ed|ing)?\b/i, "follows, reads"],
  [/\bmend(?:s|ed|ing)?\b/i, "repairs"],
  [/\bweed(?:s|ed|ing)?\b/i, "removes"],
  [/\bpoisonous\b/i, "poison task"],
  [/\bwhere (?:there|nothing|none|no|neither) (?!it\b)/i, "if"],
];

const files = globSync(
  [
    "{src,serverless,test,bench,tools,examples}/**/*.{ts,mts,mjs,py,go}",
    "lua/**/*.{lua,md}",
    "{CHANGELOG,CONTRIBUTING,README,SECURITY}.md",
    "{docs,notes}/**/*.md",
  ],
  { cwd: root },
).filter((file) => !/node_modules|\.gen\.ts$|contract\/language\.test\.ts$/.test(file));

test("code, comments, errors and test names are in plain words", () => {
  const found = files.flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .flatMap((line, i) =>
        refused
          .filter(([phrase]) => phrase.test(line))
          .map(([phrase, instead]) => `${file}:${i + 1}: ${phrase.exec(line)?.[0]}: write ${instead}`),
      ),
  );
  expect(files.length).toBeGreaterThan(500);
  expect(found).toEqual([]);
});
