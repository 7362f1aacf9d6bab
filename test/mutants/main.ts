// npm run test:mutants: makes each deliberate fault of the list in a copy of the repository, and runs the tests until one
// notices. Fails where none does and the list does not say why. `--help` lists the options.

import { parseArgs } from "node:util";
import { coverage, faultsOf } from "./coverage.ts";
import { mutants } from "./list.ts";
import type { Mutant } from "./mutant.ts";
import { Workshop } from "./workshop.ts";

const USAGE = `npm run test:mutants -- [options]
  --only TEXT     those whose name, file or what they break has the text, a regular expression
  --shard 1/4     the first of four parts
  --jobs N        so many at once, each in a copy of its own (1)
  --near          only the tests nearest to each fault, not all others where these notice nothing
  --list          only lists them`;

interface Chosen {
  readonly area: string;
  readonly mutant: Mutant;
}

/** What became of one: what noticed it; "argued" where the list says why nothing can; undefined where nothing did. */
type Verdict = string | undefined;

const options = readOptions();
const chosen = choose();
if (options.list) {
  for (const { area, mutant } of chosen)
    console.log(`${area}: ${mutant.name} (${mutant.breaks}, ${mutant.file})`);
} else {
  process.exitCode = await run();
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string", default: "" },
        shard: { type: "string", default: "1/1" },
        jobs: { type: "string", default: "1" },
        near: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    const [, part, parts] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(values.shard) ?? [];
    if (values.help) return refuse("", 0);
    if (Number(part) > Number(parts) || part === undefined) return refuse("--shard must be such as 1/4");
    if (!/^[1-9]\d?$/.test(values.jobs)) return refuse("--jobs must be a whole number from 1 to 99");
    const only = new RegExp(values.only);
    return { ...values, only, part: Number(part), parts: Number(parts), jobs: Number(values.jobs) };
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(message: string, status = 1): never {
  console.error([message, USAGE].filter(Boolean).join("\n"));
  process.exit(status);
}

function choose(): Chosen[] {
  const all = Object.entries(mutants).flatMap(([area, list]) => list.map((mutant) => ({ area, mutant })));
  const faults = faultsOf(all.map(({ mutant }) => mutant));
  if (faults.length > 0) refuse(`the list does not fit:\n${faults.join("\n")}`);
  return all
    .filter(({ mutant: { name, file, breaks } }) =>
      [name, file, breaks].some((text) => options.only.test(text)),
    )
    .filter((_, i) => i % options.parts === options.part - 1);
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
      const told =
        verdict === undefined
          ? "SURVIVED"
          : verdict === "argued"
            ? `argued: ${mutant.survives}`
            : `killed by ${verdict}`;
      console.log(
        `${verdicts.size}/${chosen.length} ${mutant.name} (${mutant.breaks}, ${mutant.file}) ${seconds} s\n    ${told}`,
      );
    }
  };
  try {
    await Promise.all(Array.from({ length: options.jobs }, work));
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
