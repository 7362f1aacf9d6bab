import { examineDatabase, examineQueues } from "../../operate/health/index.ts";
import type { FoundBy } from "./condition.ts";
import type { CheckedRule, WatchedQueue } from "./rules.ts";
import type { PassContext } from "./types.ts";

/** The findings that rules watch, of queues by name, then by `after`, ms. Queues without such a rule are not read. */
export async function findingsOfQueues(
  queues: readonly WatchedQueue[],
  { transport, prefix, signal, now }: PassContext,
): Promise<Map<string, Map<number, FoundBy>>> {
  const watched = new Map<number, string[]>();
  for (const { name, rules } of queues) {
    for (const after of aftersOf(rules)) watched.set(after, [...(watched.get(after) ?? []), name]);
  }
  const found = new Map<string, Map<number, FoundBy>>();
  for (const [after, names] of watched) {
    for (const one of await examineQueues(transport, names, after, { prefix, signal, now })) {
      found.set(one.queue, (found.get(one.queue) ?? new Map<number, FoundBy>()).set(after, one));
    }
  }
  return found;
}

/** The findings about the database, by `after`, ms, for the rules that watch it. */
export async function findingsOfDatabase(
  rules: readonly CheckedRule[],
  { transport, prefix, signal, now }: PassContext,
): Promise<ReadonlyMap<number, FoundBy>> {
  const afters = aftersOf(rules);
  if (afters.length === 0) return new Map();
  const scope = { hasDatabase: true, whose: "the deployment" };
  const found = await examineDatabase(transport, scope, { prefix, signal, now });
  return new Map(afters.map((after) => [after, found]));
}

const aftersOf = (rules: readonly CheckedRule[]) => [
  ...new Set(rules.flatMap(({ condition }) => condition.findings?.after ?? [])),
];
