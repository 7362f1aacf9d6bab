import { examineDatabase, examineQueues, type HealthFinding } from "../../operate/health/index.ts";
import type { CheckedRule, WatchedQueue } from "./rules.ts";
import type { PassContext } from "./types.ts";

/** Findings by `after`, ms. */
export type FoundBy = ReadonlyMap<number, readonly HealthFinding[]>;

/** The findings that rules watch, of queues by name. Queues without such a rule are not read. */
export async function findingsOfQueues(
  queues: readonly WatchedQueue[],
  { transport, prefix, signal, now }: PassContext,
): Promise<Map<string, Map<number, readonly HealthFinding[]>>> {
  const watched = new Map<number, string[]>();
  for (const { name, rules } of queues) {
    for (const after of aftersOf(rules)) watched.set(after, [...(watched.get(after) ?? []), name]);
  }
  const found = new Map<string, Map<number, readonly HealthFinding[]>>();
  for (const [after, names] of watched) {
    for (const { queue, findings } of await examineQueues(transport, names, after, { prefix, signal, now })) {
      found.set(queue, (found.get(queue) ?? new Map()).set(after, findings));
    }
  }
  return found;
}

/** The findings about the database, for the rules that watch it. */
export async function findingsOfDatabase(
  rules: readonly CheckedRule[],
  { transport, prefix, signal, now }: PassContext,
): Promise<FoundBy> {
  if (rules.length === 0) return new Map();
  const scope = { hasDatabase: true, whose: "the deployment" };
  const { findings } = await examineDatabase(transport, scope, { prefix, signal, now });
  return new Map(aftersOf(rules).map((after) => [after, findings]));
}

const aftersOf = (rules: readonly CheckedRule[]) => [
  ...new Set(rules.flatMap(({ condition }) => condition.findings?.after ?? [])),
];
