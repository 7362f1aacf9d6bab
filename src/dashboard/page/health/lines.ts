import type { Finding } from "../api/types.ts";

const order = ["problem", "warning", "unknown", "ok"] as const;

/** So many findings that say the same of different queues are one line. */
const MANY = 3;

/** Whether it is to be shown as wrong. What Redis does not report is no fault. */
export const isWrong = ({ status, queue }: Finding) =>
  queue !== undefined || status === "problem" || status === "warning";

/** The worst first. */
const sorted = (findings: readonly Finding[]) =>
  findings.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status));

/** The findings of each line, the worst first. What many queues have is one line. */
export function linesOf(findings: readonly Finding[]): readonly (readonly Finding[])[] {
  const all = sorted(findings);
  return all.flatMap((one) => {
    const same = all.filter(({ code, status }) => code === one.code && status === one.status);
    if (same.length < MANY) return [[one]];
    return same[0] === one ? [same] : [];
  });
}
