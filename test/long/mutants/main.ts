// npm run test:mutants: makes each deliberate fault in a copy of the repository, and runs the tests until one
// notices. Fails if none does and no argument says why. `--help` lists the options.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { endWrong, flag, optional, readOptions, seed, wholeNumber } from "../../support/options.ts";
import { root } from "../../near/nearest.ts";
import { type Edit, editOf, linesOf, placeOf } from "./anchor.ts";
import { argumentFor } from "./argued.ts";
import { Copy } from "./copy.ts";
import { generate, nameOf } from "./generate.ts";
import { lawMutants } from "./list.ts";
import { Memory } from "./memory.ts";

const program = {
  script: "test:mutants",
  does: "Makes deliberate faults in a copy, those that break a law by name, and runs the tests until one notices.",
};

interface Chosen {
  readonly name: string;
  /** What it breaks or, if it is generated, how it was made. */
  readonly what: string;
  readonly edit: Edit;
  readonly isGenerated?: boolean;
  readonly survives?: string | undefined;
}

const options = readOptions(program, {
  only: optional("TEXT", "those whose name, file or promise matches the regular expression", readPattern),
  generated: optional(
    "N",
    "in place of the list, N that are made by rule from lua/ and the core of src/",
    (given) => wholeNumber(given, 1, 100_000),
  ),
  seed: seed(),
  shard: optional("1/4", "the first of four parts", readShard),
  jobs: optional("N", "that many at once, each in a copy of its own (1)", (given) =>
    wholeNumber(given, 1, 99),
  ),
  least: optional("PERCENT", "fails if fewer are killed (100)", (given) => wholeNumber(given, 0, 100)),
  near: flag("only the tests nearest to each fault, not all others if these notice nothing"),
  list: flag("only lists them"),
});
const chosen = choose();
if (options.list)
  for (const one of chosen) console.log(titleOf(one) + (one.isGenerated ? `\n${diffOf(one.edit)}` : ""));
else process.exitCode = await run();

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
  const { only, shard: [part, parts] = [1, 1] } = options;
  const fitting = (options.generated === undefined ? ofLaws() : ofRules(options.generated)).filter(
    (one) => only === undefined || only.test(titleOf(one)),
  );
  if (fitting.length === 0) {
    endWrong(program, `--only ${only?.source} fits none of the faults; --list alone lists them`);
  }
  const ones = fitting.filter((_, i) => i % parts === part - 1);
  if (ones.length === 0) endWrong(program, `--shard ${part}/${parts} has none of ${fitting.length} faults`);
  return ones;
}

function ofLaws(): Chosen[] {
  return Object.entries(lawMutants).flatMap(([subject, mutants]) =>
    Object.entries(mutants).map(([name, mutant]) => {
      const { breaks, survives } = mutant;
      return { name, what: `${subject}, ${breaks}`, edit: editOf(name, mutant), survives };
    }),
  );
}

function ofRules(count: number): Chosen[] {
  const drawn = options.seed ?? Math.floor(Math.random() * 1_000_000);
  console.log(`--seed ${drawn}`);
  return generate(count, drawn).map((one) => ({
    name: nameOf(one),
    what: one.rule,
    edit: one.edit,
    isGenerated: true,
    survives: argumentFor(one),
  }));
}

function titleOf({ name, what, edit, isGenerated }: Chosen): string {
  const place = placeOf(edit.source, edit.from);
  return isGenerated ? `${what} (${place})` : `${name} (${what}; ${place})`;
}

function diffOf(edit: Edit): string {
  const { before, after } = linesOf(edit);
  const marked = (lines: string, mark: string) => lines.replaceAll(/^/gm, `    ${mark} `);
  return `${marked(before, "-")}\n${marked(after, "+")}`;
}

async function run(): Promise<number> {
  const began = performance.now();
  const memory = new Memory();
  const left = chosen.entries();
  const survived: string[] = [];
  const copies: Copy[] = [];
  let judged = 0;
  let argued = 0;
  const removeCopies = () => {
    for (const copy of copies) copy.remove();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      removeCopies();
      process.exit(1);
    });
  }
  const work = async () => {
    const copy = await Copy.make();
    copies.push(copy);
    for (const [i, one] of left) {
      const start = performance.now();
      let verdict = `argued: ${one.survives}`;
      if (one.survives !== undefined) argued++;
      else {
        const before = memory.noticedBy(one.name);
        const isThere = before !== undefined && existsSync(join(root, before));
        const failure = await copy.try(one.edit, isThere ? before : undefined, options.near);
        memory.note(one.name, failure?.file);
        judged++;
        if (!failure) survived.push(titleOf(one));
        verdict = failure ? `killed by ${failure.what}` : `SURVIVED\n${diffOf(one.edit)}`;
      }
      const seconds = Math.round((performance.now() - start) / 1_000);
      console.log(`${i + 1}/${chosen.length} ${titleOf(one)} ${seconds} s\n    ${verdict}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: options.jobs ?? 1 }, work));
  } finally {
    removeCopies();
  }
  for (const title of survived) console.log(`SURVIVED ${title}`);
  const killed = judged - survived.length;
  const percent = judged === 0 ? 100 : Math.floor((100 * killed) / judged);
  const least = options.least ?? 100;
  const minutes = Math.round((performance.now() - began) / 60_000);
  console.log(`${killed} of ${judged} killed, ${percent} %; ${argued} argued for; in ${minutes} minutes`);
  return 100 * killed < least * judged ? 1 : 0;
}
