import { Command, Option } from "commander";
import type { PurgeReport } from "../../queue/operate/task-operator.ts";
import { type FilterOptions, filterOf, isFiltered, whole, withFilter } from "../options.ts";
import { confirmed } from "../output/confirm.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";

interface PurgeOptions extends FilterOptions {
  readonly state: string;
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
  );
  return operation(
    running,
    command,
    async ({ api, out, io }: Session, options: PurgeOptions, queue: string) => {
      const { state, limit, yes } = options;
      const which = isFiltered(options)
        ? `the ${state} tasks of ${queue} that match`
        : `all ${state} tasks of ${queue}`;
      if (!(await confirmed(io, `Purge ${which}?`, yes))) return out.note("Nothing was purged.");
      let purged = 0;
      let cursor: string | undefined;
      do {
        const left = limit === undefined ? undefined : limit - purged;
        const body = { state, limit: left, cursor, budget: BUDGET, ...filterOf(options) };
        const report: PurgeReport = await api.send("POST", `${pathOf(queue)}/purge`, "purged", body, BUDGET);
        purged += report.purged;
        cursor = report.cursor ?? undefined;
        out.progress(`${purged} purged`);
      } while (cursor !== undefined && purged < (limit ?? Number.POSITIVE_INFINITY));
      out.progress("");
      out.value({ queue, state, purged }, `Purged ${purged} ${state} tasks of ${queue}.`);
    },
  );
}
