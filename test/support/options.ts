// How test programs such as `npm run test:soak` read their command lines.

import { parseArgs } from "node:util";
import { messageOf } from "../../src/errors.ts";

/** The greatest seed: a whole number of 31 bits, which every random source here takes. */
const GREATEST_SEED = 2 ** 31 - 1;

/** One option of a program. */
export interface Option<T> {
  /** The placeholder of its value in the usage text; "" if it takes none. */
  readonly takes: string;
  /** What it does, and its default. */
  readonly says: string;
  /**
   * Parses the given text.
   * @throws what the value must be, such as "must be a number above 0"
   */
  readonly read: (given: string | undefined) => T;
}

/** A program as its user sees it. */
export interface Program {
  /** The script of package.json, as in "test:soak". */
  readonly script: string;
  /** One sentence. */
  readonly does: string;
}

type Values<O extends Readonly<Record<string, Option<unknown>>>> = {
  readonly [K in keyof O]: ReturnType<O[K]["read"]>;
};

/**
 * Reads the options of the command line. `--help` prints them and ends the process with status 0. A wrong
 * option ends it with one line on stderr and status 2, before anything starts.
 */
export function readOptions<O extends Readonly<Record<string, Option<unknown>>>>(
  program: Program,
  options: O,
): Values<O> {
  const entries = Object.entries(options);
  const types = entries.map(([name, { takes }]) => {
    return [name, { type: takes === "" ? "boolean" : "string" }] as const;
  });
  let given: Readonly<Record<string, string | boolean | undefined>>;
  try {
    given = parseArgs({ options: { ...Object.fromEntries(types), help: { type: "boolean" } } }).values;
  } catch (error) {
    // Node adds advice about positional arguments, which no program here takes.
    return endWrong(program, messageOf(error).split(/\.\s/, 1)[0] ?? "");
  }
  if (given["help"] === true) {
    console.log(usage(program, options));
    process.exit(0);
  }
  const values = entries.map(([name, { read }]) => {
    const value = given[name];
    try {
      return [name, read(value === undefined ? undefined : String(value))] as const;
    } catch (error) {
      return endWrong(program, `--${name} ${messageOf(error)}, not ${JSON.stringify(value)}`);
    }
  });
  return Object.fromEntries(values) as Values<O>;
}

/** Ends the process because its command line is wrong: one line on stderr, status 2. */
export function endWrong({ script }: Program, wrong: string): never {
  console.error(`${script}: ${wrong} (npm run ${script} -- --help lists the options)`);
  process.exit(2);
}

function usage({ script, does }: Program, options: Readonly<Record<string, Option<unknown>>>): string {
  const rows = Object.entries(options).map(
    ([name, { takes, says }]) => [`--${name} ${takes}`, says] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length));
  const lines = rows.map(([left, says]) => `  ${left.padEnd(width)}  ${says}`);
  return [`npm run ${script} -- [options]`, does, "", ...lines].join("\n");
}

/** An option whose value is read only if it is given. */
export function optional<T>(takes: string, says: string, read: (given: string) => T): Option<T | undefined> {
  return { takes, says, read: (given) => (given === undefined ? undefined : read(given)) };
}

/** An option without a value. */
export function flag(says: string): Option<boolean> {
  return { takes: "", says, read: (given) => given !== undefined };
}

/** `--minutes`: a number above 0, which may have a fraction. */
export function minutes(says: string): Option<number | undefined> {
  return optional("N", says, (given) => {
    const value = Number(given);
    if (value > 0 && Number.isFinite(value)) return value;
    throw new Error("must be a number above 0");
  });
}

/** `--seed`: the same seed gives the same run. */
export function seed(): Option<number | undefined> {
  const says = "what all chance is drawn from, a whole number, to see a run again; another each time";
  return optional("N", says, (given) => wholeNumber(given, 0, GREATEST_SEED));
}

/** @throws if it is no whole number from `least` to `most` */
export function wholeNumber(given: string, least: number, most: number): number {
  const value = Number(given);
  if (/^\d+$/.test(given) && value >= least && value <= most) return value;
  throw new Error(`must be a whole number from ${least} to ${most}`);
}
