import { badRequest } from "./failure.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A duration of QStash in ms: `10s`, `5m`, `1h30m`, `2d`; a number alone is seconds.
 * @param name of the header, for errors
 * @throws {Failure} 400
 */
export function readDuration(text: string, name: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  if (!/^(?:\d{1,10}[smhd])+$/.test(text))
    throw badRequest(`invalid ${name}: ${text}; it must be a duration such as 10s, 5m, 2h or 1d`);
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhd])/g))
    ms += Number(count) * (UNITS[unit as string] as number);
  return ms;
}

/** @throws {Failure} 400 */
export function readWhole(text: string, name: string, least = 0): number {
  const value = Number(text);
  if (/^\d{1,15}$/.test(text) && value >= least) return value;
  throw badRequest(
    `invalid ${name}: ${text}; it must be a whole number${least > 0 ? ` of at least ${least}` : ""}`,
  );
}
