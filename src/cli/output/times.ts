const two = (value: number) => String(value).padStart(2, "0");

/** An instant in local time, such as `2026-11-23 02:14:05`. */
export function localTime(at: number): string {
  const date = new Date(at);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** An instant in local time without year and seconds, such as `11-23 02:14`, for narrow columns. */
export function shortTime(at: number): string {
  return localTime(at).slice(5, 16);
}

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1_000, "s"],
] as const;

/** A duration in its two largest units, such as `2h 5m`; `340ms` below a second. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))}ms`;
  const first = UNITS.findIndex(([unit]) => ms >= unit);
  const [unit, letter] = UNITS[first] ?? [1_000, "s"];
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((ms % unit) / next[0]) : 0;
  return `${Math.floor(ms / unit)}${letter}${next && rest > 0 ? ` ${rest}${next[1]}` : ""}`;
}
