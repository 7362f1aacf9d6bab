/** What is wrong with those who lost leases: workers that do not come back, and tasks whose leases expire. */
import { counted } from "../../counted.ts";
import { span } from "../../kernel/options/span.ts";
import { shellQuoted } from "../../shell-quoted.ts";
import type { QueueFacts } from "./facts.ts";
import { ago } from "./finding.ts";
import { type LostWorker, MISSED_FOR } from "./lost-workers.ts";
import { found, type QueueFinding } from "./queue-finding.ts";

/** So many expired leases are a problem. */
const MANY_LEASES = 10;

/** Leases that expire in so many minutes expire again and again. A deployment may end processes in one. */
const AGAIN = 2;

/** So long after the last one, leases expire no more, ms. */
const OVER_AFTER = 180_000;

/** So long after the last one, what made them expire may be gone, ms. */
const QUIET = 120_000;

/** Statistics know no shorter time, ms. */
const SHORTEST = 120_000;

/** The names that a finding has at most. */
const NAMED = 10;

export function workersLost({ queue, now, lostWorkers }: QueueFacts): QueueFinding | undefined {
  const [last] = lostWorkers;
  if (!last) return undefined;
  const one = `worker ${describe(last)} was failed ${ago(now - last.failedAt)}, and has taken nothing since`;
  const others = lostWorkers.length - 1;
  const text = others === 0 ? one : `${one}; nor have ${counted(others, "other failed worker")}`;
  const left = span(last.failedAt + MISSED_FOR - now);
  const advice = `restart its process, if it still runs: one that hangs does not come back (sluice workers ${queue}). This ends once a worker of its name takes a task, or in ${left}`;
  const names = lostWorkers.slice(0, NAMED).map(({ name }) => name);
  return found("warning", "worker_lost", queue, text, advice, names);
}

function describe({ name, incarnation, node, pid }: LostWorker): string {
  const where = [pid === undefined ? "" : `process ${pid}`, node === undefined ? "" : `on ${node}`].filter(
    Boolean,
  );
  if (where.length > 0) return `${name} (${where.join(" ")})`;
  return incarnation === undefined ? name : `${name} ${incarnation}`;
}

export function leasesExpire(
  { queue, now, expiring, expired }: QueueFacts,
  after: number,
): QueueFinding | undefined {
  const tasks = expiring.toSorted((one, other) => other.leases - one.leases);
  const [worst] = tasks;
  if (!worst && (expired.minutes < AGAIN || now - expired.lastAt > OVER_AFTER)) return undefined;
  const names = tasks.slice(0, NAMED).map(({ id }) => id);
  const listed = `${names.slice(1).join(", ")}${tasks.length > NAMED ? " …" : ""}`;
  const others =
    tasks.length > 1 ? `, and ${counted(tasks.length - 1, "other task")} several: ${listed}` : "";
  const lost = worst && `task ${worst.id} lost ${worst.leases} leases one after the other${others}`;
  const recent =
    expired.leases > 0 &&
    `${counted(expired.leases, "lease")} expired within ${span(Math.max(after, SHORTEST))}`;
  // Statistics know only the minute.
  const isQuiet = !worst && now - expired.lastAt >= QUIET;
  const quiet = isQuiet ? `, the last over 2m ago: the cause may be gone` : "";
  // The record has the last worker alone: whether it was one process or several is not known.
  const causeOf = (who: string, whose: string) =>
    `${who} died or hung, or ${whose} handler outlived the lease: `;
  const advice = worst
    ? `${causeOf("each process that took it", "its")}sluice show ${queue} ${shellQuoted(worst.id)}. To be rid of the task, keep its payload first (sluice export ${queue} --state working), then: sluice cancel ${queue} ${shellQuoted(worst.id)}`
    : `${causeOf("a process", "a")}tasks not completed since: sluice ls ${queue} --text "lease expired". This ends 3m after the last`;
  return found(
    isQuiet || expired.leases < MANY_LEASES ? "warning" : "problem",
    "leases_expire",
    queue,
    [lost, recent].filter(Boolean).join("; ") + quiet,
    advice,
    names,
  );
}
