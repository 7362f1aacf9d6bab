import { Command, Option } from "commander";
import type { RedriveReport } from "../../queue/operate/task-operator.ts";
import { UsageError } from "../exit.ts";
import { type FilterOptions, filterOf, isFiltered, positive, whole, withFilter } from "../options.ts";
import { localTime } from "../output/times.ts";
import { operation, type Running, type Session } from "../session.ts";
import { atMost, listFrom, pathOf, tasksOf } from "../tasks.ts";
import { errorLine } from "../output/printable.ts";

interface RedriveOptions extends FilterOptions {
  readonly dryRun?: boolean;
  readonly rate?: number;
  readonly limit?: number;
  readonly rejected?: boolean;
}

/** Dead letters that the consumer did not reject for good. */
const RETRYABLE = ["attempts_exhausted", "lease_expired"] as const;

/** How long one request may work. */
const BUDGET = 10_000;

export function redriveCommand(running: Running): Command {
  const command = withFilter(
    new Command("redrive")
      .summary("make dead letters pending again")
      .description(
        "Redrives dead letters, the oldest first: all, those that match, or those with the ids. Dead letters that a consumer rejected for good (NonRetryableError, reject) stay, unless --rejected, --reason or an id asks for them.",
      )
      .argument("<queue>")
      .argument("[ids...]")
      .option("--dry-run", "show which would be redriven, and change nothing")
      .addOption(new Option("--rate <number>", "at most this many a second").argParser(positive))
      .addOption(new Option("--limit <number>", "at most this many").argParser(whole(1)))
      .option("--rejected", "also those that a consumer rejected for good"),
  );
  return operation(
    running,
    command,
    async (session: Session, options: RedriveOptions, queue: string, ids: readonly string[]) => {
      const { dryRun, rejected, reason } = options;
      if (ids.length > 0 && (isFiltered(options) || options.limit !== undefined || dryRun || rejected))
        throw new UsageError("ids must not be given with a filter, --limit, --rejected or --dry-run");
      if (rejected && reason) throw new UsageError("--rejected must not be given with --reason");
      if (ids.length > 0) return redriveIds(session, queue, ids, options);
      const filter = { ...filterOf(options), reason: reason ?? (rejected ? undefined : RETRYABLE) };
      if (dryRun) return showMatching(session, queue, filter, options);
      await redriveMatching(session, queue, filter, options);
    },
  );
}

async function redriveIds(
  { api, out, fail }: Session,
  queue: string,
  ids: readonly string[],
  { rate }: RedriveOptions,
): Promise<void> {
  const report: RedriveReport = await api.send("POST", `${pathOf(queue)}/redrive`, "redriven", { ids, rate });
  const { redriven, refused } = report;
  if (refused.length > 0) fail();
  const reasons = refused.map(({ id, code }) => `\n${id}: ${code}`);
  out.value({ queue, redriven, refused }, `Redrove ${redriven} of ${ids.length}.${reasons.join("")}`);
}

type Filter = Omit<ReturnType<typeof filterOf>, "reason"> & {
  readonly reason: readonly string[] | undefined;
};

async function showMatching(
  { api, out }: Session,
  queue: string,
  filter: Filter,
  { limit = Number.POSITIVE_INFINITY }: RedriveOptions,
): Promise<void> {
  const query = { state: "rejected", size: Math.min(limit, 1_000), ...filter };
  const tasks = await listFrom(atMost(limit, tasksOf(api, queue, query as never)));
  out.rows(
    tasks.map(({ id, endedAt, reason, error }) => ({ id, endedAt, reason, error })),
    [
      { title: "ID", of: ({ id }) => id },
      { title: "DIED", of: ({ endedAt }) => localTime(endedAt ?? 0) },
      { title: "REASON", of: ({ reason }) => reason },
      { title: "ERROR", fills: true, of: ({ error }) => errorLine(error) },
    ],
    "No dead letter matches.",
  );
  out.note(`${tasks.length} would be redriven. Nothing was changed.`);
}

async function redriveMatching(
  { api, out }: Session,
  queue: string,
  filter: Filter,
  { rate, limit }: RedriveOptions,
): Promise<void> {
  let redriven = 0;
  let cursor: string | undefined;
  do {
    const left = limit === undefined ? undefined : limit - redriven;
    const body = { ...filter, rate, limit: left, cursor, budget: BUDGET };
    const path = `${pathOf(queue)}/redrive`;
    const report: RedriveReport = await api.send("POST", path, "redriven", body, BUDGET);
    redriven += report.redriven;
    cursor = report.cursor ?? undefined;
    out.progress(`${redriven} redriven`);
  } while (cursor !== undefined && redriven < (limit ?? Number.POSITIVE_INFINITY));
  out.progress("");
  const spread = rate === undefined ? "" : ` They become pending over ${Math.ceil(redriven / rate)} s.`;
  out.value({ queue, redriven }, `Redrove ${redriven} dead letters of ${queue}.${spread}`);
}
