import { Command, Option } from "commander";
import type { GroupInfo, GroupPage } from "../../operate/groups.ts";
import { whole } from "../options.ts";
import { operation, type Running, type Session } from "../session.ts";
import { atMost, listFrom, pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";
import { rateText } from "./settings.ts";

export function groupsCommand(running: Running): Command {
  const command = new Command("groups")
    .summary("list the groups of a queue that have pending tasks")
    .description(
      "Lists the groups of a queue that have pending tasks, with their settings. READY tasks are next in turn; LIMITED ones were set aside until the limits or the pause of the group allow them. A group that has only settings, or only delayed or working tasks, is not listed: sluice settings <queue> --group <group> shows it.",
    )
    .argument("<queue>")
    .addOption(new Option("--limit <number>", "at most this many").argParser(whole(1)).default(100));
  return operation(
    running,
    command,
    async (session: Session, { limit }: { limit: number }, queue: string) => {
      const { out } = session;
      const found = await listFrom(atMost(limit + 1, groupsOf(session, queue, Math.min(limit + 1, 1_000))));
      if (found.length === 0) await refuseUnknownQueue(session, queue);
      out.rows(
        found.slice(0, limit),
        [
          { title: "GROUP", copied: true, of: ({ group }) => group },
          { title: "READY", align: "right", of: ({ ready }) => ready },
          { title: "WORKING", align: "right", of: ({ working }) => working },
          { title: "LIMITED", align: "right", of: ({ limited }) => limited },
          { title: "STATE", optional: true, of: ({ paused }) => (paused ? "paused" : "") },
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

async function* groupsOf({ api }: Session, queue: string, size: number): AsyncGenerator<GroupInfo, void> {
  for await (const { groups } of api.pages<GroupPage>(pathOf(queue, "groups"), "groups", { size }))
    yield* groups;
}
