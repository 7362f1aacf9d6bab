import { readDays, type DaysOf } from "./days.ts";
import { HOUR, MINUTE, MONTH, refuse, SECOND, valuesOfList } from "./field.ts";

/** A cron expression that was read. Values are in ascending order. */
export interface CronExpression {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly daysOf: DaysOf;
  /** From 1. */
  readonly months: readonly number[];
  /** Whether it has one second, one minute and one hour, without `*` and steps. */
  readonly isFixedTime: boolean;
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ["@hourly", "0 * * * *"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@weekly", "0 0 * * 0"],
  ["@monthly", "0 0 1 * *"],
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
]);

/**
 * Reads a cron expression.
 * @param text five fields, six with seconds in front, or a name such as `@daily`; with single spaces
 * @throws {SluiceError} `invalid_argument`
 */
export function readCron(text: string): CronExpression {
  const fields = (NAMED.get(text.toLowerCase()) ?? text).replaceAll("?", "*").split(" ");
  if (fields.length === 5) fields.unshift("0");
  if (fields.length !== 6) {
    refuse(`${text} is no name; allowed are ${[...NAMED.keys()].join(", ")}, and five or six fields`);
  }
  const [second = "", minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = fields;
  const [seconds, minutes, hours] = [
    valuesOfList(second, SECOND),
    valuesOfList(minute, MINUTE),
    valuesOfList(hour, HOUR),
  ];
  const isSingle = [seconds, minutes, hours].every((values) => values.length === 1);
  return {
    seconds,
    minutes,
    hours,
    daysOf: readDays(dayOfMonth, dayOfWeek),
    months: valuesOfList(month, MONTH),
    isFixedTime: isSingle && !/[*/]/.test(second + minute + hour),
  };
}
