// Writes src/queue/redis/lua.gen.ts from lua/. It is a module because Workers cannot read files at run time.
// With --check it only reports whether the module is current.

import { readFileSync, writeFileSync } from "node:fs";
import { generatedFile, readLua } from "./lua/files.ts";
import { moduleOf } from "./lua/module.ts";
import { shorten } from "./lua/shorten.ts";

const wanted = moduleOf(shorten(readLua()));
if (!process.argv.includes("--check")) writeFileSync(generatedFile, wanted);
else if (readFileSync(generatedFile, "utf8") !== wanted) {
  console.error("src/queue/redis/lua.gen.ts is not current: run `npm run embed-lua`.");
  process.exit(1);
}
