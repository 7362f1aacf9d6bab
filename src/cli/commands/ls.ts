import { Command, Option } from "commander";
import type { TaskState } from "../../kernel/options/types.ts";
import type { ListTasksOptions } from "../../operate/list-tasks.ts";
import { type FilterOptions, filterOf, stateOption, whole, withFilter } from "../options.ts";
import type { Column } from "../output/table.ts";
import { relativeTime, timeColumn } from "../output/times.ts";
import { operation, type Running, type Session } from "../session.ts";
import { atMost, changedAt, errorOf, listFrom, type ShownTask, stateOf, tasksOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

interface ListOptions extends FilterOptions {
  readonly state?: TaskState;
  readonly limit: number;
  readonly payloads?: boolean;
  readonly reverse?: boolean;
}

export function lsCommand(running: Running): Command {
  const command = withFilter(
    new Command("ls")
      .summary("list tasks")
      .description(
        "Lists the tasks of a queue, by default in every state. Pending tasks are in the order of delivery, dead letters from the oldest on.",
      )
      .argument("<queue>")
      .addOption(stateOption("only tasks in this state"))
      .addOption(
        new Option("--limit <number>", "at most this many of each state").argParser(whole(1)).default(50),
      )
      .option("--payloads", "with payloads")
      .option("--reverse", "the last ones first: of dead letters the newest"),
    "tasks",
  );
  return operation(running, command, async (session: Session, options: ListOptions, queue: string) => {
    const { state, limit, payloads, reverse } = options;
    const tasks: ShownTask[] = [];
    let areMore = false;
    const list = async (query: Pick<ListTasksOptions, "state" | "reason">) => {
      const size = Math.min(limit + 1, 1_000);
      const found = tasksOf(session, queue, { payloads, reverse, size, ...filterOf(options), ...query });
      const listed = await listFrom(atMost(limit + 1, found));
      tasks.push(...listed.slice(0, limit));
      areMore ||= listed.length > limit;
    };
    for (const each of state ? [state] : statesFor(options)) await list({ state: each });
    // Cancelled tasks are no dead letters, so a list of rejected tasks has them only by their reason.
    if (options.reason === undefined && (state ?? "rejected") === "rejected")
      await list({ state: "rejected", reason: "cancelled" });
    if (tasks.length === 0) await refuseUnknownQueue(session, queue);
    const columns: Column<ShownTask>[] = [
      { title: "ID", copied: true, of: ({ id }) => id },
      { title: "STATE", of: stateOf },
      { title: "NEXT", optional: true, of: nextOf("lease ends"), short: nextOf("ends") },
      { title: "SINCE", ...timeColumn(changedAt) },
      { title: "DELIVERIES", align: "right", of: ({ attempt }) => attempt },
      { title: "GROUP", optional: true, of: ({ group }) => group },
      payloads
        ? {
            title: "PAYLOAD",
            fills: true,
            of: ({ payload, payloadsHidden }) => (payloadsHidden ? "hidden" : JSON.stringify(payload)),
          }
        : { title: "ERROR", fills: true, least: 24, of: errorOf },
    ];
    session.out.rows(tasks, columns, "No task matches.");
    if (areMore) session.out.note(`There are more than ${limit} of a state: --limit <number> lists more.`);
  });
}

/** When a delayed task is due, and when the lease of a working one ends. */
const nextOf =
  (ends: string) =>
  ({ dueAt, deadlineAt }: ShownTask): string => {
    if (dueAt !== undefined) return `due ${relativeTime(dueAt)}`;
    return deadlineAt === undefined ? "" : `${ends} ${relativeTime(deadlineAt)}`;
  };

/** The states, those that need attention first. */
const STATES: readonly TaskState[] = ["working", "pending", "delayed", "blocked", "rejected", "completed"];

/** The states in which tasks can match: only rejected ones have a reason, only ended ones an end. */
function statesFor({ reason, since, until }: ListOptions): readonly TaskState[] {
  if (reason !== undefined) return ["rejected"];
  return since === undefined && until === undefined ? STATES : ["rejected", "completed"];
}
