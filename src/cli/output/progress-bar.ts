import { span } from "../../kernel/options/span.ts";

const WIDTH = 24;

/** The line of a progress bar. Without a known end it shows the count and the rate. */
export function progressLine(
  done: number,
  { since, share }: { since: number; share: number | undefined },
): string {
  const elapsed = Math.max(1, performance.now() - since);
  const rate = `${Math.round((done / elapsed) * 1_000).toLocaleString("en")}/s`;
  const count = `${done.toLocaleString("en")} tasks`;
  if (share === undefined) return `${count}  ${rate}`;
  const full = Math.round(share * WIDTH);
  const bar = "█".repeat(full) + "░".repeat(WIDTH - full);
  const left = share > 0 && share < 1 ? `  ${span((elapsed / share) * (1 - share))} left` : "";
  return `${bar} ${Math.floor(share * 100)}%  ${count}  ${rate}${left}`;
}
