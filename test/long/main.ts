// npm run test:long: the tests that take long, one after the other, with a summary in the end. `--help` lists the
// options.

import { spawnSync } from "node:child_process";
import { root } from "../../tools/setup.mjs";
import { minutes, optional, readOptions } from "../support/options.ts";

/** What queues, their features and deployments do. */
const BEHAVIOUR = "test/kernel test/features test/operate test/sweep test/deploy";

/** Each step: a command, of which `MINUTES` is replaced, and its environment. */
const STEPS: Readonly<Record<string, readonly [command: string, env?: Readonly<Record<string, string>>]>> = {
  tests: ["npm test -- --config test/long/vitest.config.ts"],
  soak: ["npm run test:soak -- --minutes MINUTES"],
  "soak-full-lanes": ["npm run test:soak -- --minutes MINUTES", { SLUICE_LANES: "full" }],
  "full-lanes": [`npm test -- ${BEHAVIOUR}`, { SLUICE_LANES: "full" }],
  fuzz: ["npm run test:fuzz -- --minutes MINUTES"],
  oracle: ["npm test -- test/embedded/oracle.test.ts", { SLUICE_ORACLE_RUNS: "2000" }],
  embedded: [`npm run test:embedded -- ${BEHAVIOUR} test/proofs/fault`],
  portable: [`npm run test:portable -- ${BEHAVIOUR} test/proofs/fault`],
  chaos: ["npm run test:chaos -- --minutes MINUTES"],
  "chaos-cluster": ["npm run test:chaos -- --minutes MINUTES --cluster"],
  "chaos-partitions": ["npm run test:chaos -- --minutes MINUTES --partitions"],
  growth: ["npm run test:growth"],
  mutants: ["npm run test:mutants"],
  // Others each time. What survives is a missing test, or changes nothing that a test could notice.
  "mutants-generated": ["npm run test:mutants -- --generated 200 --least 75"],
};
const names = Object.keys(STEPS);

const { minutes: each = 5, only = names } = readOptions(
  { script: "test:long", does: "Runs the tests that take long, one after the other." },
  {
    minutes: minutes("how long each random test takes (5)"),
    only: optional("NAMES", `only these, with commas between them: ${names.join(", ")}`, readNames),
  },
);

function readNames(given: string): readonly string[] {
  const chosen = given.split(",");
  if (chosen.every((name) => names.includes(name))) return chosen;
  throw new Error(`must be some of ${names.join(",")}`);
}

const rows = only.map((name) => {
  const [command, env] = STEPS[name] as (typeof STEPS)[string];
  const line = command.replace("MINUTES", String(each));
  console.log(`== ${name}: ${line}`);
  const began = performance.now();
  const { status } = spawnSync(line, {
    cwd: root,
    env: { ...process.env, ...env },
    shell: true,
    stdio: "inherit",
  });
  const seconds = Math.round((performance.now() - began) / 1_000);
  return { name, ok: status === 0, row: `${status === 0 ? "passed" : "FAILED"} ${seconds} s  ${name}` };
});
console.log(`\n${rows.map(({ row }) => row).join("\n")}`);
process.exitCode = rows.every(({ ok }) => ok) ? 0 : 1;
