import { DAY_OF_MONTH, DAY_OF_WEEK, refuseItem, valuesOfItem } from "./field.ts";

/** The days of a month, from 1, in ascending order. */
export type DaysOf = (year: number, month: number) => readonly number[];

interface Day {
  readonly day: number;
  /** From 0, Sunday. */
  readonly weekday: number;
  /** The last day of its month. */
  readonly last: number;
}

type Rule = (day: Day) => boolean;

/**
 * The days on which an expression occurs. If both fields are given, either is enough; with `+` in front of the second,
 * both must match.
 * @throws {SluiceError} `invalid_argument`
 */
export function readDays(dayOfMonth: string, dayOfWeek: string): DaysOf {
  if (/LW,|,LW/i.test(dayOfMonth)) refuseItem(DAY_OF_MONTH, dayOfMonth);
  const mustBoth = dayOfWeek.startsWith("+");
  const inMonth = dayOfMonth.split(",").map(ruleInMonth);
  const inWeek = (mustBoth ? dayOfWeek.slice(1) : dayOfWeek).split(",").map(ruleInWeek);
  const eitherIsEnough = !mustBoth && dayOfMonth !== "*" && dayOfWeek !== "*";
  return (year, month) => {
    const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
    const first = new Date(Date.UTC(year, month - 1, 1)).getUTCDay();
    return Array.from({ length: last }, (_, i) => i + 1).filter((day) => {
      const at = { day, weekday: (first + day - 1) % 7, last };
      const [isInMonth, isInWeek] = [inMonth, inWeek].map((rules) => rules.some((rule) => rule(at)));
      return eitherIsEnough ? isInMonth || isInWeek : isInMonth && isInWeek;
    });
  };
}

function ruleInMonth(item: string): Rule {
  if (/^L$/i.test(item)) return ({ day, last }) => day === last;
  if (/^LW$/i.test(item)) return (at) => at.day === nearestWorkday(at.last, at);
  if (/^\d+W$/i.test(item)) {
    const [wanted = 0] = valuesOfItem(item.slice(0, -1), DAY_OF_MONTH, item);
    return (at) => wanted <= at.last && at.day === nearestWorkday(wanted, at);
  }
  const days = valuesOfItem(item, DAY_OF_MONTH);
  return ({ day }) => days.includes(day);
}

/** The day from Monday to Friday that is nearest to a day of the month, and in this month. */
function nearestWorkday(wanted: number, { day, weekday, last }: Day): number {
  const wantedWeekday = (weekday + wanted - day + 35) % 7;
  if (wantedWeekday === 6) return wanted > 1 ? wanted - 1 : wanted + 2;
  if (wantedWeekday === 0) return wanted < last ? wanted + 1 : wanted - 2;
  return wanted;
}

function ruleInWeek(item: string): Rule {
  const [, values = "", nth, last] = /^(.*?)(?:#0*([1-5])|(#?L))?$/i.exec(item) ?? [];
  if (values === "*" && item !== "*") refuseItem(DAY_OF_WEEK, item);
  const weekdays = valuesOfItem(values, DAY_OF_WEEK, item).map((weekday) => weekday % 7);
  return (at) =>
    weekdays.includes(at.weekday) &&
    (nth === undefined || Math.ceil(at.day / 7) === Number(nth)) &&
    (last === undefined || at.day > at.last - 7);
}
