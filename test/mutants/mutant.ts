/** A deliberate fault of one or a few lines, which some test has to notice. */
export interface Mutant {
  /** A unique name. */
  readonly name: string;
  /** From the repository's root. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The promise that it breaks. */
  readonly breaks: Promised;
  /** What goes wrong, and for whom. */
  readonly because: string;
  /** Why no test can distinguish it from the original: an argument, not an assumption. */
  readonly survives?: string;
}

type Invariant = `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`;

type Law = `law ${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12}`;

/** An invariant of lua/README.md, a law of CONTRIBUTING.md, or else a promise of a page or docstring. */
export type Promised =
  | Invariant
  | Law
  | "access"
  | "answers"
  | "cancelling"
  | "consumers"
  | "errors"
  | "fairness"
  | "input"
  | "limits"
  | "listing"
  | "repair"
  | "schedules"
  | "statistics"
  | "waking"
  | "watching"
  | "workers";

export const invariants: readonly Promised[] = ["I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8"];

export const laws: readonly Promised[] = [
  "law 1",
  "law 2",
  "law 3",
  "law 4",
  "law 5",
  "law 6",
  "law 7",
  "law 8",
  "law 9",
  "law 10",
  "law 11",
  "law 12",
];
