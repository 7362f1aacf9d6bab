import { nameOfShard } from "../../kernel/names/keys.ts";
import { Command, Option } from "commander";
import type { DeepSweepReport } from "../../features/repair/index.ts";
import type { SweepReport } from "../../open/sweep-with.ts";
import type { OrphanReport } from "../../features/offload/types.ts";
import { UsageError } from "../exit.ts";
import { counted } from "../../counted.ts";
import { operation, type Running, type Session } from "../session.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

interface SweepOptions {
  readonly deep?: boolean;
  readonly queue?: string;
}

/** How long one request may work. */
const BUDGET = 20_000;

export function sweepCommand(running: Running): Command {
  const command = new Command("sweep")
    .summary("do what cron does: promote due tasks, reclaim expired leases")
    .description(
      "Sweeps all queues: makes due tasks and expired leases pending, enqueues the tasks of schedules, deletes old records. With --deep it checks every entry instead, and repairs what is wrong.",
    )
    .option("--deep", "find and repair contradictions, such as those after a failover of Redis")
    .addOption(new Option("--queue <queue>", "with --deep: only this queue"));
  return operation(running, command, async (session: Session, { deep, queue }: SweepOptions) => {
    if (queue !== undefined && !deep) throw new UsageError("--queue must be given with --deep");
    if (deep) return reportDeepSweep(session, queue);
    const { api, out, fail } = session;
    const total = { queues: 0, promoted: 0, reclaimed: 0, rejected: 0, expired: 0, scheduled: 0, woken: 0 };
    // A round that its budget ends may sweep other queues than the one before.
    const failures = new Map<string, string>();
    let objects: OrphanReport | undefined;
    let last: SweepReport;
    do {
      last = await api.send<SweepReport>("POST", "/v1/sweep", "promoted", { budget: BUDGET }, BUDGET);
      for (const name of Object.keys(total) as (keyof typeof total)[])
        total[name] = name === "queues" ? Math.max(total.queues, last.queues) : total[name] + last[name];
      for (const { queue: of, code } of last.failed) failures.set(of, code);
      if (last.objects) objects = sum(objects, last.objects);
    } while (last.more);
    if (failures.size > 0 || objects?.error !== undefined) fail();
    const removed = objects ? `, ${counted(objects.removed, "object")} removed` : "";
    const failed = Array.from(failures, ([of, code]) => `\n${of}: ${code}`).join("");
    const store = objects?.error === undefined ? "" : `\nobject store: ${objects.error}`;
    const { queues, promoted, reclaimed, rejected, expired, scheduled } = total;
    out.value(
      {
        ...total,
        failed: Array.from(failures, ([of, code]) => ({ queue: of, code })),
        ...(objects && { objects }),
      },
      `Swept ${counted(queues, "queue")}: ${promoted} promoted, ${reclaimed} reclaimed, ${rejected} dead, ${scheduled} scheduled, ${expired} records expired${removed}.${failed}${store}`,
    );
  });
}

function sum(before: OrphanReport | undefined, last: OrphanReport): OrphanReport {
  const { checked = 0, removed = 0, error } = before ?? {};
  return {
    checked: checked + last.checked,
    removed: removed + last.removed,
    error: error ?? last.error,
  };
}

async function reportDeepSweep(session: Session, queue: string | undefined): Promise<void> {
  const { faults, failed, entries, queues } = await deepSweep(session, queue);
  if (queue !== undefined && entries === 0) await refuseUnknownQueue(session, queue);
  const { out, fail } = session;
  if (failed.length > 0) fail();
  const found = faults.map(
    ({ queue: of, partition, fault, count, ids }) =>
      `\n${placeOf(of, partition)}: ${fault} ${count} (${ids.join(" ")})`,
  );
  const repaired = faults.reduce((sum, { count }) => sum + count, 0);
  const wrong = failed.map(
    ({ queue: of, partition, code }) => `\n${placeOf(of, partition)}: not checked, ${code}`,
  );
  const what = repaired === 0 ? "no fault" : `repaired ${counted(repaired, "fault")}`;
  const checked = `${counted(entries, "entry", "entries")} of ${counted(queues, "queue")}`;
  out.value(
    { queues, entries, faults, failed },
    `Checked ${checked}: ${what}${found.join("")}${wrong.join("")}`,
  );
}

/** The report names no partition 0. */
const placeOf = (queue: string, partition: number | undefined) =>
  partition === undefined ? queue : nameOfShard(queue, partition);

/** Runs the deep sweep to its end. */
export async function deepSweep(
  { api, out }: Session,
  queue: string | undefined,
): Promise<Omit<DeepSweepReport, "cursor">> {
  const faults: DeepSweepReport["faults"][number][] = [];
  const failed: DeepSweepReport["failed"][number][] = [];
  let [queues, entries] = [0, 0];
  let cursor: string | undefined;
  do {
    const body = { deep: true, queue, cursor, budget: BUDGET };
    const report: DeepSweepReport = await api.send("POST", "/v1/sweep", "faults", body, BUDGET);
    faults.push(...report.faults);
    failed.push(...report.failed);
    queues += report.queues;
    entries += report.entries;
    out.progress(`${entries} entries checked`);
    cursor = report.cursor ?? undefined;
  } while (cursor !== undefined);
  out.progress("");
  return { queues, entries, faults, failed };
}
