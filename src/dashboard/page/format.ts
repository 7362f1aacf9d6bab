/** Numbers, durations and instants as texts, in the language and time zone of the viewer. */
import { serverTime } from "./clock.ts";

const whole = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

/** A count: in full up to 99,999, then short, such as 1.2M. */
export const number = (value: number) => (value < 100_000 ? whole : compact).format(value);

/** A count in full. */
export const exact = (value: number) => whole.format(value);

/** A count with its noun. */
export const counted = (value: number, one: string, more = `${one}s`) =>
  `${exact(value)} ${value === 1 ? one : more}`;

/** A code in words. */
export const wordsOf = (code: string) => code.replaceAll("_", " ");

/** A rate per minute. */
export const rate = (value: number) =>
  value === 0 ? "0" : value < 10 ? value.toFixed(1) : number(Math.round(value));

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

/** A duration with its two largest units, such as 2h 5m; below a second in ms. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  let rest = ms;
  const parts: string[] = [];
  for (const [unit, size] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.join(" ");
}

/** A duration as the HTTP interface takes it, such as 90s. */
export function durationText(ms: number): string {
  const [unit, size] = UNITS.find(([, one]) => ms % one === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

/** The ms of a duration as the HTTP interface takes it; not a number if the text is none. */
export function durationOf(text: string): number {
  const [, count, unit] = /^(\d{1,12}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text) ?? [];
  return (Math.round(Number(count) * 1_000) * (UNITS.find(([name]) => name === unit)?.[1] ?? 1)) / 1_000;
}

const time = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const minute = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

/** An instant: without its date if it is of today. */
export const instant = (at: number) =>
  (new Date(at).toDateString() === new Date(serverTime()).toDateString() ? time : day).format(at);

export const clockTime = (at: number) => minute.format(at);

/** How long ago an instant was, or how long it is ahead. */
export function ago(at: number, now = serverTime()): string {
  const ms = now - at;
  if (Math.abs(ms) < 1_000) return "now";
  return ms > 0 ? `${span(ms)} ago` : `in ${span(-ms)}`;
}

/** Dollars of Redis commands at Upstash's price for pay as you go, November 2026. */
export const dollars = (commands: number) => {
  const amount = commands * 0.000_002;
  if (amount === 0) return "$0";
  if (amount < 0.01) return "< $0.01";
  return `$${amount.toFixed(2)}`;
};
