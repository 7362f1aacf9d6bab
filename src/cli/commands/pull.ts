import { Command, Option } from "commander";
import { duration, whole } from "../options.ts";
import { timeColumn } from "../output/times.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

interface PullOptions {
  readonly max: number;
  readonly lease?: number;
  readonly wait?: number;
}

interface PulledTask {
  readonly id: string;
  readonly receipt: string;
  readonly payload: unknown;
  readonly attempt: number;
  readonly deadlineAt: number;
}

export function pullCommand(running: Running): Command {
  const command = new Command("pull")
    .summary("lease the next tasks, for a script or by hand")
    .description(
      "Leases the next tasks and prints them with their receipts. Settle each before its lease ends, or it is delivered again.",
    )
    .argument("<queue>")
    .addOption(
      new Option("--max <number>", "at most this many, 1 to 100").argParser(whole(1, 100)).default(1),
    )
    .addOption(
      new Option("--lease <duration>", "lease of tasks that were enqueued without one").argParser(duration),
    )
    .addOption(new Option("--wait <duration>", "wait for a task, at most 60s").argParser(duration));
  return operation(running, command, async (session: Session, options: PullOptions, queue: string) => {
    const { api, out } = session;
    const { max, lease, wait } = options;
    const path = pathOf(queue, "tasks", "pull");
    // Before, because a pull that finds nothing is remembered in the queue too.
    await refuseUnknownQueue(session, queue);
    const reply: { tasks: PulledTask[] } = await api.send("POST", path, "tasks", { max, lease, wait }, wait);
    out.rows(
      reply.tasks,
      [
        // The receipt has the id in it.
        { title: "ID", of: ({ id }) => id },
        { title: "DELIVERY", align: "right", of: ({ attempt }) => attempt },
        { title: "LEASE UNTIL", ...timeColumn(({ deadlineAt }) => deadlineAt) },
        { title: "RECEIPT", copied: true, of: ({ receipt }) => receipt },
        { title: "PAYLOAD", fills: true, of: ({ payload }) => JSON.stringify(payload) },
      ],
      "No task was delivered: none is pending, or a pause or a limit holds it back.",
    );
  });
}
