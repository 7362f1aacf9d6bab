import { invalidArgument } from "../../../errors.ts";

/** A field of a cron expression. */
interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** The names of its values, from `min` on. */
  readonly names?: readonly string[];
  /** What else than values, ranges and steps is allowed. */
  readonly also?: string;
}

export const SECOND: Field = { name: "second", min: 0, max: 59 };
export const MINUTE: Field = { ...SECOND, name: "minute" };
export const HOUR: Field = { name: "hour", min: 0, max: 23 };
export const DAY_OF_MONTH: Field = { name: "day of the month", min: 1, max: 31, also: ", L, LW, 15W" };
export const MONTH: Field = {
  name: "month",
  min: 1,
  max: 12,
  names: "jan feb mar apr may jun jul aug sep oct nov dec".split(" "),
  also: ", JAN to DEC",
};
export const DAY_OF_WEEK: Field = {
  name: "day of the week",
  min: 0,
  max: 7,
  names: "sun mon tue wed thu fri sat".split(" "),
  also: ", SUN to SAT, FRI#1 to FRI#5, FRIL",
};

/**
 * The values of a list, in ascending order.
 * @throws {SluiceError} `invalid_argument`
 */
export function valuesOfList(list: string, field: Field): number[] {
  const values = list.split(",").flatMap((item) => valuesOfItem(item, field));
  return [...new Set(values)].toSorted((a, b) => a - b);
}

/**
 * The values of `*`, a value or a range, also with a step.
 * @param whole what an error quotes
 * @throws {SluiceError} `invalid_argument`
 */
export function valuesOfItem(item: string, field: Field, whole = item): number[] {
  const [, star, low = "", high, every] = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item) ?? [];
  const from = star ? field.min : valueOf(low, field);
  const to = star ? field.max : high === undefined ? from : lastValueOf(high, field);
  const step = Number(every ?? 1);
  const isRange = star !== undefined || high !== undefined;
  const isValid = field.min <= from && from <= to && to <= field.max && step >= 1 && step <= maxStep(field);
  if (!isValid || (every !== undefined && !isRange)) refuseItem(field, whole);
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);
}

/** @returns NaN if it is neither a number nor a name */
function valueOf(text: string, { names = [], min }: Field): number {
  if (/^\d+$/.test(text)) return Number(text);
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? Number.NaN : min + index;
}

/** A range that ends with `SUN` ends with 7. */
function lastValueOf(text: string, field: Field): number {
  return /^sun$/i.test(text) ? valueOf("sat", field) + 1 : valueOf(text, field);
}

/** How many values there are: Sunday is 0 and 7. */
const maxStep = ({ names, min, max }: Field) => names?.length ?? max - min + 1;

export function refuseItem(field: Field, item: string): never {
  const { name, min, max, also = "" } = field;
  refuse(
    `"${item}" is no ${name}; allowed are *, ${min} to ${max}${also}, ranges such as ${min}-${max}, and * and ranges ` +
      `with a step of 1 to ${maxStep(field)}, such as */2`,
  );
}

export function refuse(reason: string): never {
  throw invalidArgument("cron", `must be a cron expression: ${reason}`);
}
