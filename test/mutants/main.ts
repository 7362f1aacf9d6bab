// npm run test:mutants: makes each deliberate fault of the list in a copy of the repository, and runs the
// tests until one notices. Fails if none does and the list does not say why. `--help` lists the options.

import { endWrong, flag, optional, readOptions, wholeNumber } from "../support/options.ts";
import { coverage, faultsOf } from "./coverage.ts";
import { mutants } from "./list.ts";
import type { Mutant } from "./mutant.ts";
import { Workshop } from "./workshop.ts";

const program = {
  script: "test:mutants",
  does: "Makes each deliberate fault of the list in a copy, and runs the tests until one notices.",
};

interface Chosen {
  readonly area: string;
  readonly mutant: Mutant;
}

/** The test that noticed it; "argued" if the list says why none can; undefined if none did. */
type Verdict = string | undefined;

const options = readOptions(program, {
  only: optional(
    "TEXT",
    "those whose name, file or broken promise matches the regular expression",
    readPattern,
  ),
  shard: optional("1/4", "the first of four parts", readShard),
  jobs: optional("N", "that many at once, each in a copy of its own (1)", (given) =>
    wholeNumber(given, 1, 99),
  ),
  near: flag("only the tests nearest to each fault, not all others if these notice nothing"),
  list: flag("only lists them"),
});
const chosen = choose();
if (options.list) {
  for (const { area, mutant } of chosen)
    console.log(`${area}: ${mutant.name} (${mutant.breaks}, ${mutant.file})`);
} else {
  process.exitCode = await run();
}

function readPattern(given: string): RegExp {
  try {
    return new RegExp(given);
  } catch {
    throw new Error("must be a regular expression");
  }
}

function readShard(given: string): readonly [part: number, parts: number] {
  const [, part, parts] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(given) ?? [];
  if (part !== undefined && Number(part) <= Number(parts)) return [Number(part), Number(parts)];
  throw new Error("must be such as 1/4");
}

function choose(): Chosen[] {
  const all = Object.entries(mutants).flatMap(([area, list]) => list.map((mutant) => ({ area, mutant })));
  const faults = faultsOf(all.map(({ mutant }) => mutant));
  if (faults.length > 0) {
    console.error(`the list does not fit:\n${faults.join("\n")}`);
    process.exit(1);
  }
  const { only, shard: [part, parts] = [1, 1] } = options;
  const fitting = all.filter(
    ({ mutant: { name, file, breaks } }) =>
      only === undefined || [name, file, breaks].some((text) => only.test(text)),
  );
  if (fitting.length === 0) {
    endWrong(program, `--only ${only?.source} fits none of the faults; --list alone lists them`);
  }
  const ones = fitting.filter((_, i) => i % parts === part - 1);
  if (ones.length === 0) endWrong(program, `--shard ${part}/${parts} has none of ${fitting.length} faults`);
  return ones;
}

async function run(): Promise<number> {
  const began = performance.now();
  const queue = [...chosen];
  const verdicts = new Map<Mutant, Verdict>();
  const shops: Workshop[] = [];
  const close = () => {
    for (const shop of shops) shop.close();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      close();
      process.exit(1);
    });
  }
  const work = async () => {
    const shop = await Workshop.open();
    shops.push(shop);
    for (let next; (next = queue.shift());) {
      const start = performance.now();
      const { mutant } = next;
      const verdict = mutant.survives === undefined ? await shop.try(mutant, options.near) : "argued";
      verdicts.set(mutant, verdict);
      const seconds = Math.round((performance.now() - start) / 1_000);
      const result =
        verdict === undefined
          ? "SURVIVED"
          : verdict === "argued"
            ? `argued: ${mutant.survives}`
            : `killed by ${verdict}`;
      console.log(
        `${verdicts.size}/${chosen.length} ${mutant.name} (${mutant.breaks}, ${mutant.file}) ${seconds} s
    ${result}`,
      );
    }
  };
  try {
    await Promise.all(Array.from({ length: options.jobs ?? 1 }, work));
  } finally {
    close();
  }
  return report(verdicts, performance.now() - began);
}

function report(verdicts: ReadonlyMap<Mutant, Verdict>, ms: number): number {
  const survived = chosen.filter(({ mutant }) => verdicts.get(mutant) === undefined);
  const score = (ones: readonly Chosen[]) => {
    const argued = ones.filter(({ mutant }) => verdicts.get(mutant) === "argued").length;
    const killed = ones.filter(({ mutant }) => verdicts.get(mutant) !== undefined).length - argued;
    const judged = ones.length - argued;
    const percent = judged === 0 ? 100 : Math.floor((100 * killed) / judged);
    return `${killed} of ${judged} killed, ${percent} %${argued > 0 ? `; ${argued} argued for` : ""}`;
  };
  console.log("\nmutants of each law, invariant, script and room");
  const counts = Array.from(
    coverage(chosen.map(({ mutant }) => mutant)),
    ([what, count]) => `${what} ${count}`,
  );
  for (let i = 0; i < counts.length; i += 8) console.log(`  ${counts.slice(i, i + 8).join(", ")}`);
  console.log("\nscore");
  for (const area of Object.keys(mutants)) {
    const ones = chosen.filter((one) => one.area === area);
    if (ones.length > 0) console.log(`  ${area}: ${score(ones)}`);
  }
  for (const { mutant } of survived) console.log(`SURVIVED ${mutant.name}: ${mutant.because}`);
  console.log(`in all: ${score(chosen)}, in ${Math.round(ms / 60_000)} minutes`);
  return survived.length > 0 ? 1 : 0;
}
