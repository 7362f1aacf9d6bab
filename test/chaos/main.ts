// npm run test:chaos -- --minutes N [--seed N]: what test/chaos/chaos.test.ts does, for as long as told.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { written } from "./figures.ts";
import { chaos } from "./run.ts";

const { values } = parseArgs({ options: { minutes: { type: "string" }, seed: { type: "string" } } });
const minutes = Number(values.minutes ?? 1);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!(minutes > 0) || !Number.isInteger(seed) || seed < 0) {
  console.error("--minutes takes a number above 0, --seed a whole number from 0");
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "sluice-chaos-"));
console.log(`seed ${seed}, ${minutes} minutes`);
const { figures, violations } = await chaos({ seconds: minutes * 60, seed, folder });
console.log(written(figures));
if (violations.length > 0) {
  console.error(
    `\n${violations.length} violations; the first of them:\n${violations.slice(0, 30).join("\n")}`,
  );
  console.error(`\nSeed ${seed}. What each process wrote down is in ${folder}`);
  process.exit(1);
}
rmSync(folder, { recursive: true });
process.exit(0);
