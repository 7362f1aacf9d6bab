import { Command, Option } from "commander";
import type { QueueCounts } from "../../queue/core/counts.ts";
import type { PurgeReport } from "../../queue/operate/task-operator.ts";
import { type FilterOptions, filterOf, isFiltered, whole, withFilter } from "../options.ts";
import type { Api } from "../connection/api.ts";
import { counted } from "../output/counted.ts";
import { canAsk, confirmed } from "../output/confirm.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";

interface PurgeOptions extends FilterOptions {
  readonly state: "pending" | "delayed" | "completed" | "rejected";
  readonly limit?: number;
  readonly yes?: boolean;
}

/** How long one request may work. */
const BUDGET = 10_000;

export function purgeCommand(running: Running): Command {
  const command = withFilter(
    new Command("purge")
      .summary("delete tasks in one state")
      .description(
        "Purges tasks in one state, all or those that match. Pending and delayed tasks are cancelled. Completed tasks and dead letters are deleted. Working tasks are never purged: cancel them.",
      )
      .argument("<queue>")
      .addOption(
        new Option("--state <state>", "which tasks")
          .choices(["pending", "delayed", "completed", "rejected"])
          .makeOptionMandatory(),
      )
      .addOption(new Option("--limit <number>", "at most this many").argParser(whole(1)))
      .option("--yes", "do not ask"),
    "tasks",
  );
  return operation(
    running,
    command,
    async ({ api, out, io, fail }: Session, options: PurgeOptions, queue: string) => {
      const { state, limit, yes } = options;
      const question = yes || !canAsk(io) ? "" : await questionOf(api, queue, options);
      if (!(await confirmed(io, question, yes))) return out.note("Nothing was purged.");
      let purged = 0;
      let unreadable = 0;
      let cursor: string | undefined;
      do {
        const left = limit === undefined ? undefined : limit - purged;
        const body = { state, limit: left, cursor, budget: BUDGET, ...filterOf(options) };
        const report: PurgeReport = await api.send("POST", pathOf(queue, "purge"), "purged", body, BUDGET);
        purged += report.purged;
        unreadable += report.unreadable;
        cursor = report.cursor ?? undefined;
        out.progress(`${purged} purged`);
      } while (cursor !== undefined && purged < (limit ?? Number.POSITIVE_INFINITY));
      out.progress("");
      out.value({ queue, state, purged }, `Purged ${counted(purged, nounOf(state))} of ${queue}.`);
      if (unreadable === 0) return;
      out.note(`${counted(unreadable, "task")} cannot be read, and stay: see sluice doctor --repair.`);
      fail();
    },
  );
}

async function questionOf(api: Api, queue: string, options: PurgeOptions): Promise<string> {
  const { state, limit } = options;
  const many = `${nounOf(state)}s`;
  if (isFiltered(options)) return `Purge the ${many} of ${queue} that match?`;
  // Completed tasks are not counted by Redis.
  const counts: QueueCounts | undefined =
    state === "completed" ? undefined : await api.get(pathOf(queue), "pending");
  const all = counts && state !== "completed" ? `all ${counts[state]} ${many}` : `all ${many}`;
  return `Purge ${limit === undefined ? all : `at most ${limit} of ${all}`} of ${queue}?`;
}

const nounOf = (state: PurgeOptions["state"]) => (state === "rejected" ? "dead letter" : `${state} task`);
