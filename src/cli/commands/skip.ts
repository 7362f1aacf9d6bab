import { Command } from "commander";
import { taskId } from "../../kernel/options/validation.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

export function skipCommand(running: Running): Command {
  const command = new Command("skip")
    .summary("let groups go on that dead letters have stopped")
    .description(
      "Lets the groups of dead letters go on with their next tasks, in a queue with a strict order and onDead=stop. The dead letters stay. sluice groups <queue> --stopped lists them.",
    )
    .argument("<queue>")
    .argument("<ids...>");
  return operation(
    running,
    command,
    async (session: Session, _options: object, queue: string, ids: readonly string[]) => {
      const { api, out, fail } = session;
      const results: { readonly id: string; readonly ok: boolean; readonly result: string }[] = [];
      for (const id of ids) taskId(id, id);
      await refuseUnknownQueue(session, queue);
      try {
        for (const id of ids) {
          const path = `${pathOf(queue, "tasks")}/${encodeURIComponent(id)}/skip`;
          const refused = await api.refusalOf(path, "skipped", ["not_found", "not_dead_letter"]);
          if (refused) fail();
          results.push({ id, ok: refused === null, result: refused ?? "skipped" });
        }
      } finally {
        out.rows(
          results,
          [
            { title: "ID", copied: true, of: ({ id }) => id },
            {
              title: "RESULT",
              of: ({ result }) => result,
              color: (cell, { ok }) => (ok ? cell : out.colors.red(cell)),
            },
          ],
          "",
        );
      }
    },
  );
}
