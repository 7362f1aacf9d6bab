import { Command, Option } from "commander";
import { counted } from "../../counted.ts";
import { SluiceError } from "../../errors.ts";
import type { Duration } from "../../kernel/options/duration.ts";
import { Refusal } from "../exit.ts";
import { since } from "../options.ts";
import { operation, type Running, type Session } from "../session.ts";
import { noteWake } from "../wake-note.ts";

interface ReplayCommandOptions {
  readonly to: string;
  readonly since: Duration | Date;
}

export function replayCommand(running: Running): Command {
  const command = new Command("replay")
    .summary("give a queue again what a topic has kept")
    .description(
      "Adds the messages that a topic has kept to a queue that has subscribed. What the queue still knows, it does not get again.",
    )
    .argument("<topic>")
    .requiredOption("--to <queue>", "the queue")
    .addOption(
      new Option("--since <time>", "messages since: 2h (ago), 02:00, 2026-11-23T02:00")
        .argParser(since)
        .makeOptionMandatory(),
    );
  return operation(
    running,
    command,
    async (session: Session, options: ReplayCommandOptions, topic: string) => {
      const { api, out } = session;
      const { to: queue, since: from } = options;
      const done = await api
        .run((request) => api.topics.replay(queue, topic, { since: from, ...request }))
        .catch((error: unknown) => {
          const isRefusal = error instanceof SluiceError && error.path === "queue";
          throw isRefusal ? new Refusal(`${queue} is not subscribed to ${topic}`) : error;
        });
      out.value({ topic, queue, ...done }, `Gave ${queue} ${counted(done.messages, "message")} of ${topic}.`);
      if (done.more) out.note("The next sweeps add the rest.");
      if (done.messages > 0) noteWake(session);
    },
  );
}
