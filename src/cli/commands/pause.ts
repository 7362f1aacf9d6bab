import { Command } from "commander";
import { operation, type Running, type Session } from "../session.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";
import { noteWake } from "../wake-note.ts";
import { pathOf } from "../tasks.ts";

const texts = {
  pause: {
    summary: "deliver no tasks until resume",
    description: "Pauses queues: consumers get no more tasks. Enqueueing and settling work as before.",
    done: "paused",
  },
  resume: { summary: "deliver tasks again", description: "Resumes paused queues.", done: "running" },
} as const;

/** The commands `pause` and `resume`. */
export function pauseCommand(running: Running, verb: keyof typeof texts): Command {
  const { summary, description, done } = texts[verb];
  const command = new Command(verb).summary(summary).description(description).argument("<queues...>");
  return operation(
    running,
    command,
    async (session: Session, _options: object, queues: readonly string[]) => {
      const { api, out } = session;
      const results: { readonly queue: string; readonly state: string }[] = [];
      const paths = queues.map((queue) => [queue, pathOf(queue, verb)] as const);
      // Before any is changed.
      for (const queue of queues) await refuseUnknownQueue(session, queue);
      for (const [queue, path] of paths) {
        await api.send("POST", path, "paused");
        results.push({ queue, state: done });
      }
      const columns = [
        { title: "QUEUE", of: ({ queue }: { queue: string }) => queue },
        { title: "STATE", of: ({ state }: { state: string }) => state },
      ];
      out.rows(results, columns, "");
      if (verb === "resume") noteWake(session);
    },
  );
}
