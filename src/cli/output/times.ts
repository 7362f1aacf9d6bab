import { span } from "../../kernel/options/span.ts";

const two = (value: number) => String(value).padStart(2, "0");

/** An instant in local time, such as `2026-11-23 02:14:05`. */
export function localTime(at: number): string {
  const date = new Date(at);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** An instant as a person says it, such as `3m 20s ago` or `in 5m`. */
export function relativeTime(at: number): string {
  const ms = at - Date.now();
  return ms < 0 ? `${span(-ms)} ago` : `in ${span(ms)}`;
}

/** An instant in local time without year and seconds, such as `11-23 02:14`, for narrow columns. */
export function shortTime(at: number): string {
  return localTime(at).slice(5, 16);
}

/**
 * How a column of a table shows instants; on a narrow terminal as {@link shortTime}.
 * @param at an instant, or a word for a row that has none
 */
export function timeColumn<Row>(at: (row: Row) => number | string | null | undefined) {
  const shown = (text: (at: number) => string) => (row: Row) => {
    const value = at(row);
    return typeof value === "number" ? text(value) : value;
  };
  return { of: shown(localTime), short: shown(shortTime) };
}

/** When a pause ends, behind a word; empty if it lasts until it is resumed. */
export const until = (at: number | null | undefined) => (at == null ? "" : ` until ${localTime(at)}`);
