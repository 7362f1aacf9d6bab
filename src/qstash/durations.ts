import { badRequest } from "./failure.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Longest duration, days: ten years. */
const MOST_DAYS = 3_650;

/** Most that a limit allows: retries, messages at once, or messages in a period. */
export const MOST_COUNT = 999_999;

/**
 * A duration of QStash in ms: `10s`, `5m`, `1h30m`, `2d`; a number alone is seconds.
 * @param name of the header, for errors
 * @throws {Failure} 400
 */
export function readDuration(text: string, name: string): number {
  if (!/^(?:\d{1,10}|(?:\d{1,10}[smhd])+)$/.test(text))
    throw badRequest(`invalid ${name}: ${text}; it must be a duration such as 10s, 5m, 2h or 1d`);
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhd]?)/g))
    ms += Number(count) * (UNITS[unit || "s"] as number);
  if (ms > MOST_DAYS * 86_400_000)
    throw badRequest(`invalid ${name}: ${text}; it must be at most ${MOST_DAYS}d`);
  return ms;
}

/**
 * A whole number.
 * @throws {Failure} 400
 */
export function readWhole(text: string, name: string, least = 0, most = 999_999_999_999_999): number {
  const value = Number(text);
  if (/^\d{1,15}$/.test(text) && value >= least && value <= most) return value;
  const bounds = [least > 0 && `of at least ${least}`, most < 999_999_999_999_999 && `of at most ${most}`];
  const form = ["a whole number", bounds.filter(Boolean).join(" and ")].join(" ").trim();
  throw badRequest(`invalid ${name}: ${text}; it must be ${form}`);
}
