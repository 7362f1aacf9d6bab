import { Command, Option } from "commander";
import type { QueueCounts } from "../../kernel/tasks/counts.ts";
import { type FilterOptions, filterOf, isFiltered, stateOption, whole, withFilter } from "../options.ts";
import type { Api } from "../connection/api.ts";
import { counted } from "../../counted.ts";
import { canAsk, confirmed } from "../output/confirm.ts";
import { inRounds } from "../rounds.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

const STATES = ["pending", "delayed", "blocked", "completed", "rejected"] as const;

interface PurgeOptions extends FilterOptions {
  readonly state: (typeof STATES)[number];
  readonly limit?: number;
  readonly yes?: boolean;
}

export function purgeCommand(running: Running): Command {
  const command = withFilter(
    new Command("purge")
      .summary("delete or cancel the tasks in one state")
      .description(
        "Purges tasks in one state, all or those that match. Pending, delayed and blocked tasks are cancelled. Completed tasks and dead letters are deleted. Working tasks are never purged: cancel them. A filter of pending tasks needs --group.",
      )
      .argument("<queue>")
      .addOption(stateOption("which tasks", STATES).makeOptionMandatory())
      .addOption(new Option("--limit <number>", "at most this many").argParser(whole(1)))
      .option("--yes", "do not ask"),
    "tasks",
  );
  return operation(running, command, async (session: Session, options: PurgeOptions, queue: string) => {
    const { api, out, io } = session;
    const { state, limit, yes } = options;
    const asks = !yes && canAsk(io);
    if (asks) await refuseUnknownQueue(session, queue);
    const question = asks ? await questionOf(api, queue, options) : "";
    if (!(await confirmed(io, question, yes))) return out.note("Nothing was purged.");
    const body = { state, ...filterOf(options) };
    const noun = nounOf(state);
    const path = pathOf(queue, "purge");
    const purged = await inRounds(session, { path, field: "purged", body, limit, noun });
    if (purged === 0) await refuseUnknownQueue(session, queue);
    out.value({ queue, state, purged }, `Purged ${counted(purged, noun)} of ${queue}.`);
  });
}

async function questionOf(api: Api, queue: string, options: PurgeOptions): Promise<string> {
  const { state, limit } = options;
  const many = `${nounOf(state)}s`;
  const atMost = limit === undefined ? "" : `at most ${limit} of `;
  if (isFiltered(options)) return `Purge ${atMost}the ${many} of ${queue} that match?`;
  // Completed tasks are not counted by Redis.
  const counts: QueueCounts | undefined =
    state === "completed" ? undefined : await api.get(pathOf(queue), "pending");
  const all = counts && state !== "completed" ? `all ${counts[state]} ${many}` : `all ${many}`;
  return `Purge ${atMost}${all} of ${queue}?`;
}

const nounOf = (state: PurgeOptions["state"]) => (state === "rejected" ? "dead letter" : `${state} task`);
