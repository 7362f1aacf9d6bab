import { Command, Option } from "commander";
import { retryableReasons } from "../../kernel/options/types.ts";
import type { RedriveReport } from "../../operate/redrive.ts";
import { UsageError } from "../exit.ts";
import { type FilterOptions, filterOf, isFiltered, rate, whole, withFilter } from "../options.ts";
import { counted } from "../../counted.ts";
import { shortened } from "../output/printable.ts";
import { shortTime } from "../output/times.ts";
import { ago } from "../../operate/health/finding.ts";
import { span } from "../../kernel/options/span.ts";
import { operation, type Running, type Session } from "../session.ts";
import { inRounds } from "../rounds.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";
import { noteWake } from "../wake-note.ts";
import { atMost, errorOf, pathOf, type ShownTask, tasksOf } from "../tasks.ts";

interface RedriveOptions extends FilterOptions {
  readonly dryRun?: boolean;
  readonly rate?: number;
  readonly limit?: number;
  readonly rejected?: boolean;
}

/** How long one request may work. */
const BUDGET = 10_000;

/** Most ids of one request. */
const MOST_IDS = 1_000;

export function redriveCommand(running: Running): Command {
  const command = withFilter(
    new Command("redrive")
      .summary("make dead letters pending again")
      .description(
        "Makes dead letters pending again, the oldest first, behind the tasks that wait: all, those that match, or those with the ids. Dead letters that a consumer rejected for good stay, except with --rejected, --reason or an id.",
      )
      .argument("<queue>")
      .argument("[ids...]")
      .option("--dry-run", "show which would be redriven, and change nothing")
      .addOption(
        new Option("--rate <rate>", "at most this many a second, or such as 5/1m").argParser(perSecond),
      )
      .addOption(new Option("--limit <number>", "at most this many").argParser(whole(1)))
      .option("--rejected", "also those that a consumer rejected for good"),
    "dead letters",
  );
  return operation(
    running,
    command,
    async (session: Session, options: RedriveOptions, queue: string, ids: readonly string[]) => {
      const { dryRun, rejected, reason } = options;
      if (ids.length > 0 && (isFiltered(options) || options.limit !== undefined || rejected))
        throw new UsageError("ids must not be given with a filter, --limit or --rejected");
      if (rejected && reason) throw new UsageError("--rejected must not be given with --reason");
      if (ids.length > 0) {
        await redriveIds(session, queue, ids, options);
        return dryRun ? undefined : noteWake(session);
      }
      const filter = {
        ...filterOf(options),
        reason: reason ?? (rejected ? ["rejected", ...retryableReasons] : retryableReasons),
      };
      const forMatching = dryRun ? showMatching : redriveMatching;
      const found = await forMatching(session, queue, filter, options);
      if (!rejected && !reason) await noteRejected(session, queue, filter);
      if (!dryRun && found > 0) noteWake(session);
    },
  );
}

async function redriveIds(
  session: Session,
  queue: string,
  ids: readonly string[],
  { rate, dryRun }: RedriveOptions,
): Promise<void> {
  if (rate !== undefined && ids.length > MOST_IDS)
    throw new UsageError(`--rate must not be given with more than ${MOST_IDS} ids`);
  const { api, out, fail } = session;
  let redriven = 0;
  const refused: RedriveReport["refused"][number][] = [];
  for (let at = 0; at < ids.length; at += MOST_IDS) {
    const body = { ids: ids.slice(at, at + MOST_IDS), rate, dryRun };
    const report: RedriveReport = await api.send("POST", pathOf(queue, "redrive"), "redriven", body);
    redriven += report.redriven;
    refused.push(...report.refused);
  }
  if (redriven === 0) await refuseUnknownQueue(session, queue);
  if (refused.length > 0) fail();
  const reasons = refused.map(({ id, code }) => `\n${id}: ${code}`);
  const count = `${redriven} of ${ids.length}`;
  const done = dryRun ? `${count} would be redriven. Nothing was changed.` : `Redrove ${count}.`;
  out.value({ queue, redriven, refused }, done + reasons.join(""));
}

function perSecond(text: string): number {
  const { most, per } = rate(text);
  return (most / per) * 1_000;
}

type Filter = ReturnType<typeof filterOf>;

/** So long after the last one died, the cause may still last, ms. */
const FRESH = 300_000;

/** The most characters of an error in the table of a dry run. */
const MOST_OF_ERROR = 200;

type ShownRow = Pick<ShownTask, "id" | "endedAt" | "reason"> & { readonly error: string };

async function showMatching(
  session: Session,
  queue: string,
  filter: Filter,
  { limit = Number.POSITIVE_INFINITY }: RedriveOptions,
): Promise<number> {
  const query = { state: "rejected", size: Math.min(limit, 1_000), ...filter } as const;
  const { out } = session;
  const rows: ShownRow[] = [];
  let [count, last] = [0, 0];
  for await (const task of atMost(limit, tasksOf(session, queue, query))) {
    const { id, endedAt, reason, error } = task;
    count++;
    last = Math.max(last, endedAt ?? 0);
    if (out.json) out.line({ id, endedAt, reason, error });
    // Of a large error a terminal shows the beginning.
    else rows.push({ id, endedAt, reason, error: shortened(errorOf(task), MOST_OF_ERROR) });
  }
  if (count === 0) await refuseUnknownQueue(session, queue);
  if (!out.json)
    out.rows(
      rows,
      [
        { title: "ID", copied: true, of: ({ id }) => id },
        { title: "DIED", of: ({ endedAt }) => shortTime(endedAt ?? 0) },
        { title: "REASON", of: ({ reason }) => reason },
        { title: "ERROR", fills: true, of: ({ error }) => error },
      ],
      "No dead letter matches.",
    );
  out.note(`${counted(count, "dead letter")} would be redriven. Nothing was changed.`);
  const since = Date.now() - last;
  if (since < FRESH)
    out.note(`The last of them died ${ago(since)}: if the cause is not fixed, they die again.`);
  return count;
}

async function redriveMatching(
  session: Session,
  queue: string,
  filter: Filter,
  { rate, limit }: RedriveOptions,
): Promise<number> {
  const path = pathOf(queue, "redrive");
  const body = { ...filter, rate };
  const redriven = await inRounds(session, { path, field: "redriven", body, limit, noun: "dead letter" });
  if (redriven === 0) await refuseUnknownQueue(session, queue);
  const lasts = rate === undefined ? 0 : ((redriven - 1) / rate) * 1_000;
  const spread = lasts >= 1_000 ? ` They become pending within ${span(lasts)}.` : "";
  session.out.value({ queue, redriven }, `Redrove ${counted(redriven, "dead letter")} of ${queue}.${spread}`);
  return redriven;
}

/** Says how many dead letters stay, because a consumer rejected them for good. */
async function noteRejected({ api, out }: Session, queue: string, filter: Filter): Promise<void> {
  const body = { ...filter, reason: "rejected", dryRun: true, budget: BUDGET };
  const report: RedriveReport = await api.send("POST", pathOf(queue, "redrive"), "redriven", body, BUDGET);
  if (report.redriven === 0) return;
  const least = report.cursor === null ? "" : "at least ";
  const [stay, them] = report.redriven === 1 ? ["stays", "it"] : ["stay", "them"];
  out.note(
    `${least}${counted(report.redriven, "dead letter")} that a consumer rejected for good ${stay}; --rejected takes ${them} too.`,
  );
}
