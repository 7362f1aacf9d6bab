// npm run test:near: runs the tests that are nearest to what has changed, and says which and why. `--help`
// lists the options.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fastTier, shortModel } from "../../tools/fast-tier.mjs";
import { runForeground } from "../../tools/setup.mjs";
import { endWrong, flag, optional, readOptions } from "../support/options.ts";
import { changedFiles } from "./changes.ts";
import { Chooser } from "./choice.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const program = { script: "test:near", does: "Runs the tests that are nearest to what has changed." };

const { base, list } = readOptions(program, {
  base: optional(
    "REV",
    "all changes since REV, such as main; without it, what is not committed",
    (given) => given,
  ),
  list: flag("only says which tests, and why"),
});

const files = readChanges();
if (files.length === 0) {
  console.log(
    base === undefined
      ? "Nothing has changed since the last commit. --base REV runs what is near to all changes since REV."
      : `Nothing has changed since ${base}.`,
  );
} else {
  const choices = new Chooser(root).choose(files);
  for (const { file, why } of choices) console.log(`${file}: ${why}`);
  const isFast = choices.some(({ tests }) => tests === "fast");
  const chosen = choices.flatMap(({ tests }) => (tests === "fast" ? fastTier : tests));
  const paths = [...new Set(chosen)];
  if (paths.length === 0) console.log("No test is near to these changes.");
  else if (!list) {
    // Other tests of the model, if any were chosen, mean the long one.
    if (isFast && !paths.includes("test/model/model.test.ts")) Object.assign(process.env, shortModel);
    runForeground(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...paths]);
  }
}

function readChanges(): string[] {
  try {
    return changedFiles(root, base);
  } catch {
    return endWrong(program, `--base ${base ?? "HEAD"}: git does not know this revision`);
  }
}
