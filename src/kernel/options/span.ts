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
