import { Command } from "commander";
import type { WorkerFailed, WorkerInfo } from "../../operate/workers.ts";
import { wholeWords } from "../output/printable.ts";
import { shortTime, timeColumn } from "../output/times.ts";
import { Refusal } from "../exit.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

export function workersCommand(running: Running): Command {
  const command = new Command("workers")
    .summary("list the workers of a queue; take the tasks of a dead one back")
    .description("Lists the workers of a queue with their tasks. A worker is a consumer that gives its name.")
    .argument("<queue>")
    .option(
      "--fail <name>",
      "take the tasks of this worker back: they become pending at once; restart its process yourself",
    );
  return operation(running, command, async (session: Session, { fail }: { fail?: string }, queue: string) => {
    const { api, out } = session;
    const path = pathOf(queue, "workers");
    const failPath = fail === undefined ? "" : pathOf(queue, "workers", { name: fail, of: "--fail" }, "fail");
    const workers: WorkerInfo[] = [];
    const pages = api.pages<{ readonly workers: readonly WorkerInfo[] }>(path, "workers");
    for await (const page of pages) workers.push(...page.workers);
    if (workers.length === 0) await refuseUnknownQueue(session, queue);
    if (fail !== undefined) {
      if (!workers.some(({ name }) => name === fail))
        throw new Refusal(`${queue} has no worker ${fail}; perhaps its tasks were taken back already`);
      const total = { returned: 0, rejected: 0 };
      let more: boolean;
      do {
        const report: WorkerFailed = await api.send("POST", failPath, "returned");
        total.returned += report.returned;
        total.rejected += report.rejected;
        more = report.more;
      } while (more);
      out.value(
        { queue, worker: fail, ...total },
        `Took the tasks of ${fail} back: ${total.returned} pending, ${total.rejected} rejected.`,
      );
      return out.note(
        "If its process still runs, restart it: a handler that hangs goes on, and what it settles is refused. Until it takes a task, sluice doctor names it.",
      );
    }
    out.rows(
      workers,
      [
        { title: "NAME", copied: true, of: ({ name }) => name },
        { title: "SEEN", ...timeColumn(seen) },
        { title: "TASKS", align: "right", of: ({ working }) => working },
        { title: "NODE", optional: true, of: ({ node }) => node },
        { title: "PID", optional: true, of: ({ pid }) => pid },
        { title: "INCARNATION", optional: true, of: ({ incarnation }) => incarnation },
        { title: "IDS", fills: true, of: ({ tasks }) => tasks.join(" "), cut: wholeWords },
      ],
      `${queue} has no workers: its consumers give no name, or none has pulled for a while.`,
    );
  });
}

function seen({ seenAt, failedAt }: WorkerInfo): number | string {
  return seenAt ?? (failedAt === undefined ? "is being failed" : `failed ${shortTime(failedAt)}`);
}
