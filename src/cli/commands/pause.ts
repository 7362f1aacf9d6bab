import { Command, Option } from "commander";
import type { QueueSettings } from "../../operate/settings.ts";
import { durationWithin } from "../options.ts";
import { until } from "../output/times.ts";
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
    description:
      "Pauses queues: consumers get no more tasks. Enqueueing and settling work as before. A pause for a time does not end one that lasts until resume.",
    done: "paused",
  },
  resume: { summary: "deliver tasks again", description: "Resumes paused queues.", done: "running" },
} as const;

interface PauseOptions {
  readonly new?: boolean;
  readonly for?: number;
}

interface Result {
  readonly queue: string;
  readonly state: string;
  readonly pausedUntil?: number;
}

/** The commands `pause` and `resume`. */
export function pauseCommand(running: Running, verb: keyof typeof texts): Command {
  const { summary, description, done } = texts[verb];
  const command = new Command(verb).summary(summary).description(description).argument("<queues...>");
  // A new queue is not paused.
  if (verb === "pause")
    command
      .addOption(new Option("--for <duration>", "for this time").argParser(durationWithin({ min: 1 })))
      .addOption(newOption());
  return operation(
    running,
    command,
    async (session: Session, { new: isNew, for: length }: PauseOptions, queues: readonly string[]) => {
      const { api, out } = session;
      const results: Result[] = [];
      const paths = queues.map((queue) => [queue, pathOf(queue, verb)] as const);
      // Before any is changed.
      const created = new Map<string, UnknownQueue | undefined>();
      for (const queue of queues) {
        if (verb === "resume") await refuseUnknownQueue(session, queue);
        else created.set(queue, await knownOrNewQueue(session, queue, isNew));
      }
      for (const [queue, path] of paths) {
        const { pausedUntil } = await api.send<QueueSettings>("POST", path, "paused", { for: length });
        results.push({ queue, state: done, ...(pausedUntil === null ? {} : { pausedUntil }) });
      }
      const columns = [
        { title: "QUEUE", of: ({ queue }: Result) => queue },
        { title: "STATE", of: ({ state, pausedUntil }: Result) => state + until(pausedUntil) },
      ];
      out.rows(results, columns, "");
      for (const [queue, unknown] of created) noteNewQueue(session, queue, unknown);
      if (verb === "resume") noteWake(session);
    },
  );
}
