import { Command } from "commander";
import { operation, type Running, type Session } from "../session.ts";
import {
  knownOrNewQueue,
  newOption,
  noteNewQueue,
  refuseUnknownQueue,
  type UnknownQueue,
} from "../unknown-queue.ts";
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
  // A new queue is not paused.
  if (verb === "pause") command.addOption(newOption());
  return operation(
    running,
    command,
    async (session: Session, { new: isNew }: { new?: boolean }, queues: readonly string[]) => {
      const { api, out } = session;
      const results: { readonly queue: string; readonly state: string }[] = [];
      const paths = queues.map((queue) => [queue, pathOf(queue, verb)] as const);
      // Before any is changed.
      const created = new Map<string, UnknownQueue | undefined>();
      for (const queue of queues) {
        if (verb === "resume") await refuseUnknownQueue(session, queue);
        else created.set(queue, await knownOrNewQueue(session, queue, isNew));
      }
      for (const [queue, path] of paths) {
        await api.send("POST", path, "paused");
        results.push({ queue, state: done });
      }
      const columns = [
        { title: "QUEUE", of: ({ queue }: { queue: string }) => queue },
        { title: "STATE", of: ({ state }: { state: string }) => state },
      ];
      out.rows(results, columns, "");
      for (const [queue, unknown] of created) noteNewQueue(session, queue, unknown);
      if (verb === "resume") noteWake(session);
    },
  );
}
