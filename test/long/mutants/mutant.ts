/** A deliberate fault, which some test has to notice. Its name says what then happens. */
export interface LawMutant {
  /** Where it is, if the pattern alone does not say so: a script, a function, a class or `Class.method`. */
  readonly in?: string;
  /** A fault in lua/, or else in src/ or serverless/. */
  readonly lua?: Change;
  readonly src?: Change;
  /** The promise that it breaks: what goes wrong, and for whom. */
  readonly breaks: `${Promised}: ${string}`;
  /** Why no test can distinguish it from the original: an argument, not an assumption. */
  readonly survives?: string;
}

/** Mutants by name. */
export type LawMutants = Readonly<Record<string, LawMutant>>;

type Invariant = `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`;

type Law = `law ${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12}`;

/** An invariant of lua/README.md, a law of CONTRIBUTING.md, or else a promise of a page or docstring. */
type Promised =
  | Invariant
  | Law
  | "access"
  | "cancelling"
  | "fairness"
  | "limits"
  | "schedules"
  | "waking"
  | "workers";

/**
 * What becomes of the one place that a pattern describes; syntax/pattern.ts says how patterns are written.
 */
export interface Change {
  readonly does: "never" | "always" | "drop" | "change";
  readonly find: string;
  /** Of `change` alone. */
  readonly put?: string;
}

/** The condition never holds. */
export const never = (find: string): Change => ({ does: "never", find });

/** The condition always holds. */
export const always = (find: string): Change => ({ does: "always", find });

/** The statements are left out. */
export const drop = (find: string): Change => ({ does: "drop", find });

/** An expression, statements or a property, in place of others. `_1` to `_9` are what they are in the pattern. */
export const change = (find: string, put: string): Change => ({ does: "change", find, put });
