// npm run test:chaos: processes work while they, Redis and the network fail, for the given time. Then every task must
// have ended once, and under its last lease. `--help` lists the options.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { flag, minutes, readOptions, seed } from "../../support/options.ts";
import { chaos } from "./run.ts";

const program = {
  script: "test:chaos",
  does: "Kills and pauses processes and restarts Redis while they work, then checks what they wrote down.",
};
const options = readOptions(program, {
  minutes: minutes("how long (1)"),
  seed: seed(),
  cluster: flag("on a Redis Cluster: kills and pauses its masters, and moves slots"),
  partitions: flag("through deployments, whose queues get more and fewer partitions"),
});
if (options.cluster && options.partitions) {
  console.error("--partitions runs on a single Redis, not with --cluster");
  process.exit(2);
}
const long = options.minutes ?? 1;
const drawn = options.seed ?? Math.floor(Math.random() * 2 ** 31);
const folder = mkdtempSync(join(tmpdir(), "sluice-chaos-"));
console.log(`seed ${drawn}, ${long} minutes`);
const { figures, violations } = await chaos({
  seconds: long * 60,
  seed: drawn,
  folder,
  cluster: options.cluster,
  partitions: options.partitions,
});
console.log(JSON.stringify(figures, null, 2));
if (violations.length > 0) {
  console.error(
    `\n${violations.length} violations; the first of them:\n${violations.slice(0, 30).join("\n")}`,
  );
  console.error(`\nSeed ${drawn}. What each process wrote down is in ${folder}`);
  process.exit(1);
}
rmSync(folder, { recursive: true });
console.log(`\nPassed: no violation in what the processes wrote down and in what Redis holds. Seed ${drawn}`);
process.exit(0);
