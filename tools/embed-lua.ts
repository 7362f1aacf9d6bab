// Writes src/lua from lua/: modules, because Workers cannot read files at run time. With --check it only
// reports whether they are current.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generatedFolder, readGenerated, readLua } from "./lua/files.ts";
import { modulesOf } from "./lua/modules.ts";

const wanted = modulesOf(readLua(), true);
const found = readGenerated();
const written = [...wanted].filter(([file, text]) => found.get(file) !== text);
const removed = [...found.keys()].filter((file) => !wanted.has(file));
if (!process.argv.includes("--check")) {
  for (const file of removed) rmSync(join(generatedFolder, file));
  for (const [file, text] of written) {
    mkdirSync(dirname(join(generatedFolder, file)), { recursive: true });
    writeFileSync(join(generatedFolder, file), text);
  }
} else if (written.length + removed.length > 0) {
  console.error("src/lua is not current: run `npm run embed-lua`.");
  process.exit(1);
}
