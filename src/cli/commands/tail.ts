import { Command } from "commander";
import type { PublishedEvent } from "../../kernel/tasks/events.ts";
import type { QueueSettings } from "../../operate/settings.ts";
import { Refusal } from "../exit.ts";
import { printable } from "../output/printable.ts";
import { localTime } from "../output/times.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { noteUnknownQueue } from "../unknown-queue-note.ts";

export function tailCommand(running: Running): Command {
  const command = new Command("tail")
    .summary("follow the events of queues as they happen")
    .description(
      "Follows the events of queues until Ctrl-C: enqueued, dequeued, completed, requeued, rejected and so on. A queue publishes events if its setting events is on. Each event costs a command of Redis.",
    )
    .argument("<queues...>");
  return operation(
    running,
    command,
    async (session: Session, _options: object, queues: readonly string[]) => {
      const { api, out, where } = session;
      for (const queue of queues) {
        const { events }: QueueSettings = await api.get(pathOf(queue, "settings"), "events");
        if (events) continue;
        await noteUnknownQueue(session, queue);
        throw new Refusal(
          `${queue} publishes no events; switch them on: sluice settings ${queue} events=on${where}`,
        );
      }
      out.note(`Following ${queues.join(", ")}. Ctrl-C ends it.`);
      const following = new AbortController();
      try {
        await Promise.all(queues.map((queue) => follow(session, queue, following.signal)));
      } finally {
        // An error of one stream ends the others.
        following.abort();
      }
    },
  );
}

async function follow({ api, out }: Session, queue: string, signal: AbortSignal): Promise<void> {
  for await (const found of api.events(pathOf(queue, "events"), signal)) {
    const { event, at, ids } = found as PublishedEvent;
    if (out.json) out.line({ queue, event, at, ids });
    else {
      const text = printable(`${queue}  ${event.padEnd(15)}  ${ids.join(" ")}`);
      out.text(`${out.colors.dim(localTime(at))}  ${text}\n`);
    }
  }
}
