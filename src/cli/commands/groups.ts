import { Command, Option } from "commander";
import type { StoppedGroup, StoppedGroups } from "../../features/order/index.ts";
import type { GroupInfo, GroupPage } from "../../operate/groups.ts";
import { shellQuoted } from "../../shell-quoted.ts";
import { whole } from "../options.ts";
import { until } from "../output/times.ts";
import { operation, type Running, type Session } from "../session.ts";
import { atMost, listFrom, pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";
import { rateText } from "./settings.ts";

interface GroupsOptions {
  readonly limit: number;
  readonly stopped?: boolean;
}

export function groupsCommand(running: Running): Command {
  const command = new Command("groups")
    .summary("list the groups of a queue that have pending tasks")
    .description(
      "Lists the groups of a queue that have pending tasks, with their settings. READY tasks are next in turn; LIMITED ones were set aside until the limits or the pause of the group allow them, and those IN LINE, of a group in strict order, until the one before has ended. A group that has only settings, or only delayed or working tasks, is not listed: sluice settings <queue> --group <group> shows it.",
    )
    .argument("<queue>")
    .option("--stopped", "instead those in strict order that a dead letter has stopped, with that task")
    .addOption(new Option("--limit <number>", "at most this many").argParser(whole(1)).default(100));
  return operation(
    running,
    command,
    async (session: Session, { limit, stopped }: GroupsOptions, queue: string) => {
      const { out } = session;
      if (stopped) return showStopped(session, queue, limit);
      const found = await listFrom(atMost(limit + 1, groupsOf(session, queue, Math.min(limit + 1, 1_000))));
      if (found.length === 0) await refuseUnknownQueue(session, queue);
      out.rows(
        found.slice(0, limit),
        [
          { title: "GROUP", copied: true, of: ({ group }) => group },
          { title: "READY", align: "right", of: ({ ready }) => ready },
          { title: "WORKING", align: "right", of: ({ working }) => working },
          { title: "LIMITED", align: "right", of: ({ limited }) => limited },
          { title: "IN LINE", optional: true, align: "right", of: ({ inLine }) => inLine || "" },
          { title: "STATE", optional: true, of: stateOf },
          {
            title: "WEIGHT",
            optional: true,
            align: "right",
            of: ({ weight }) => (weight === 1 ? "" : weight),
          },
          { title: "MAXWORKING", optional: true, align: "right", of: ({ maxWorking }) => maxWorking },
          { title: "RATE", optional: true, of: ({ rate }) => rate && rateText(rate) },
        ],
        `No group of ${queue} has pending tasks.`,
      );
      if (found.length > limit) out.note(`There are more than ${limit}: --limit <number> lists more.`);
    },
  );
}

function stateOf({ paused, pausedUntil, stoppedBy }: GroupInfo): string {
  const stopped = stoppedBy && `stopped by ${stoppedBy}`;
  return [paused && `paused${until(pausedUntil)}`, stopped].filter(Boolean).join(", ");
}

async function* groupsOf({ api }: Session, queue: string, size: number): AsyncGenerator<GroupInfo, void> {
  for await (const { groups } of api.pages<GroupPage>(pathOf(queue, "groups"), "groups", { size }))
    yield* groups;
}

async function showStopped(session: Session, queue: string, limit: number): Promise<void> {
  const { api, out, where } = session;
  const found: StoppedGroup[] = [];
  let all = 0;
  const size = Math.min(limit, 1_000);
  for await (const { groups, total } of api.pages<StoppedGroups>(pathOf(queue, "stopped-groups"), "groups", {
    size,
  })) {
    all = total;
    found.push(...groups);
    if (found.length >= limit) break;
  }
  if (found.length === 0) await refuseUnknownQueue(session, queue);
  out.rows(
    found.slice(0, limit),
    [
      { title: "GROUP", copied: true, of: ({ group }) => group },
      { title: "STOPPED BY", copied: true, of: ({ id }) => id },
    ],
    `No group of ${queue} is stopped.`,
  );
  if (all > limit) out.note(`${all} groups are stopped: --limit <number> lists more.`);
  const task = `${shellQuoted(queue)} <id>${where}`;
  if (all > 0) out.note(`A group goes on after: sluice redrive ${task}, or sluice skip ${task}`);
}
