import { Command } from "commander";
import type { StoppedGroups } from "../../features/order/index.ts";
import { taskId } from "../../kernel/options/validation.ts";
import { Refusal, UsageError } from "../exit.ts";
import { printResults } from "../output/results.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

interface SkipOptions {
  readonly group?: string;
}

export function skipCommand(running: Running): Command {
  const command = new Command("skip")
    .summary("let groups go on that dead letters have stopped")
    .description(
      "Lets the groups of dead letters go on with their next tasks, in a queue with a strict order and onDead=stop. The dead letters stay. sluice groups <queue> --stopped lists them.",
    )
    .argument("<queue>")
    .argument("[ids...]")
    .option("--group <group>", "the dead letter that has stopped this group");
  return operation(
    running,
    command,
    async (session: Session, { group }: SkipOptions, queue: string, given: readonly string[]) => {
      const { api, out, fail } = session;
      if ((group === undefined) === (given.length === 0))
        throw new UsageError("pass ids, or --group <group>");
      const results: { readonly id: string; readonly ok: boolean; readonly result: string }[] = [];
      for (const id of given) taskId(id, id);
      await refuseUnknownQueue(session, queue);
      const ids = group === undefined ? given : [await stopping(session, queue, group)];
      try {
        for (const id of ids) {
          const path = `${pathOf(queue, "tasks")}/${encodeURIComponent(id)}/skip`;
          const refused = await api.refusalOf(path, "skipped", ["not_found", "not_dead_letter"]);
          if (refused) fail();
          results.push({ id, ok: refused === null, result: refused ?? "skipped" });
        }
      } finally {
        printResults(out, results, "ID", ({ id }) => id);
      }
    },
  );
}

/** The dead letter that has stopped a group. */
async function stopping({ api }: Session, queue: string, group: string): Promise<string> {
  const pages = api.pages<StoppedGroups>(pathOf(queue, "stopped-groups"), "groups", { size: 1_000 });
  for await (const { groups } of pages) {
    const found = groups.find((one) => one.group === group);
    if (found) return found.id;
  }
  throw new Refusal(`no dead letter has stopped the group ${group} of ${queue}`);
}
