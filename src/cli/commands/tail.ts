import { Command } from "commander";
import { reportedReply } from "../../http/responses/task-reply.ts";
import { reasonTexts } from "../../kernel/errors/reason-text.ts";
import { queueName } from "../../kernel/options/validation.ts";
import { isEnvelope } from "../../kernel/record/envelope.ts";
import type { ReportedTask } from "../../kernel/tasks/reported-task.ts";
import type { QueueSettings } from "../../operate/settings.ts";
import { Refusal } from "../exit.ts";
import { printable, shortened } from "../output/printable.ts";
import { localTime } from "../output/times.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

export function tailCommand(running: Running): Command {
  const command = new Command("tail")
    .summary("follow the events of queues as they happen")
    .description(
      "Follows the events of queues until Ctrl-C: enqueued, dequeued, completed, requeued, rejected and so on, with the result, progress or error of each attempt. A queue publishes events if its setting events is on. Each event costs a command of Redis.",
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
        await refuseUnknownQueue(session, queue);
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
  for await (const { event, at, ids, tasks } of api.events(queueName(queue, "<queue>"), signal)) {
    if (out.json) {
      out.line({ queue, event, at, ids, tasks: tasks?.map(reportedReply) });
      continue;
    }
    const texts = event === "gap" ? [MISSING] : (tasks?.map(lineOf) ?? [ids.join(" ")]);
    for (const text of texts) {
      const line = printable(`${queue}  ${event.padEnd(15)}  ${text}`);
      out.text(`${out.colors.dim(localTime(at))}  ${line}\n`);
    }
  }
}

const MISSING = "the connection was lost: events before this are missing";

/** The most characters of a result or progress in a line. */
const MOST = 200;

/** A task of an event as a person reads it. */
function lineOf({ id, attempt, error, reason, dueAt, withheld, ...task }: ReportedTask): string {
  const { result, progress } = task;
  const value = valueText(error ?? result ?? progress);
  const parts = [
    `attempt ${attempt}`,
    reason && reasonTexts[reason],
    withheld === undefined ? value : `its value is not in the event: ${withheld}`,
    dueAt === undefined ? undefined : `again at ${localTime(dueAt)}`,
  ];
  return `${id}  ${parts.filter(Boolean).join("; ")}`;
}

function valueText(value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  if (value instanceof Uint8Array) return isEnvelope(value) ? "encrypted" : `${value.length} bytes`;
  return shortened(JSON.stringify(value), MOST);
}
