import { Command } from "commander";
import { CANCEL_NOTICED } from "../../operate/requested-cancel.ts";
import { taskId } from "../../kernel/options/validation.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";
import { printResults } from "../output/results.ts";
import { operation, type Running, type Session } from "../session.ts";

export function cancelCommand(running: Running): Command {
  const command = new Command("cancel")
    .summary("cancel tasks, and delete their payloads")
    .description(
      "Cancels tasks. A task that is being worked on is flagged: its consumer is asked to stop. A cancelled task's payload and errors are deleted: export them first, if they may be needed.",
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
      try {
        for (const id of ids) {
          const cancelled = await api.run((options) => api.queue(queue).cancel(id, options));
          if (!cancelled.ok && results.length === 0) await refuseUnknownQueue(session, queue);
          if (!cancelled.ok) fail();
          results.push({
            id,
            ok: cancelled.ok,
            result: cancelled.ok ? ended(cancelled.state) : cancelled.code,
          });
        }
      } finally {
        printResults(out, results, "ID", ({ id }) => id);
        if (results.some(({ result }) => result === REQUESTED))
          out.note(
            `Cancel requested: ${CANCEL_NOTICED}. If the consumer is dead, the task ends when its lease expires.`,
          );
      }
    },
  );
}

const REQUESTED = "cancel requested";

const ended = (state: "rejected" | "working") => (state === "rejected" ? "cancelled" : REQUESTED);
