// How test programs such as `npm run test:soak` read their command lines.

import { Command } from "commander";
import { messageOf } from "../../src/errors.ts";

/** The greatest seed: a whole number of 31 bits, which every random source here takes. */
const GREATEST_SEED = 2 ** 31 - 1;

/** One option of a program. */
export interface Option<T> {
  /** The placeholder of its value in the usage text; undefined if it takes none. */
  readonly takes?: string;
  /** What it does, and its default. */
  readonly says: string;
  /**
   * Parses the given text.
   * @throws what the value must be, such as "must be a number above 0"
   */
  readonly read: (given: string) => T;
  /** Its value if it is not given. */
  readonly otherwise: T;
}

/** A program as its user sees it. */
export interface Program {
  /** The script of package.json, as in "test:soak". */
  readonly script: string;
  /** One sentence. */
  readonly does: string;
}

/**
 * Reads the options of the command line. `--help` prints them and ends the process with status 0. A wrong
 * option ends it with one line on stderr and status 2, before anything starts.
 */
export function readOptions<Values extends object>(
  program: Program,
  options: { readonly [Name in keyof Values]: Option<Values[Name]> },
): Values {
  const command = new Command(`npm run ${program.script} --`)
    .description(program.does)
    .helpOption("--help", "prints this")
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: (error) => endWrong(program, error.trim().replace("error: ", "")) });
  for (const [name, option] of Object.entries<Option<unknown>>(options)) {
    const { takes, says, read, otherwise } = option;
    const flags = takes === undefined ? `--${name}` : `--${name} <${takes}>`;
    command.option(flags, says, (given) => {
      try {
        return read(given);
      } catch (error) {
        return endWrong(program, `--${name} ${messageOf(error)}, not ${JSON.stringify(given)}`);
      }
    });
    command.setOptionValue(name, otherwise);
  }
  return command.parse().opts<Values>();
}

/** Ends the process because its command line is wrong: one line on stderr, status 2. */
export function endWrong({ script }: Program, wrong: string): never {
  console.error(`${script}: ${wrong} (npm run ${script} -- --help lists the options)`);
  process.exit(2);
}

/** An option whose value is read only if it is given. */
export function optional<T>(takes: string, says: string, read: (given: string) => T): Option<T | undefined> {
  return { takes, says, read, otherwise: undefined };
}

/** An option without a value. */
export function flag(says: string): Option<boolean> {
  return { says, read: () => true, otherwise: false };
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
