import { Command } from "commander";
import { span } from "../../kernel/options/span.ts";
import type { WorkerFailed, WorkerInfo, WorkerPage } from "../../operate/workers.ts";
import { wholeWords } from "../output/printable.ts";
import { shortTime, timeColumn } from "../output/times.ts";
import { Refusal } from "../exit.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

interface WorkersOptions {
  readonly fail?: string;
  readonly all?: true;
}

export function workersCommand(running: Running): Command {
  const command = new Command("workers")
    .summary("list the workers of a queue; take the tasks of a dead one back")
    .description("Lists the workers of a queue with their tasks. A worker is a consumer that gives its name.")
    .argument("<queue>")
    .option(
      "--fail <name>",
      "take the tasks of this worker back: they become pending at once; restart its process yourself",
    )
    .option("--all", `list all without tasks and without a sign of life, not the last ${QUIET_LISTED} alone`);
  return operation(running, command, async (session: Session, options: WorkersOptions, queue: string) => {
    const { fail, all = false } = options;
    const { api, out } = session;
    const path = pathOf(queue, "workers");
    const failPath = fail === undefined ? "" : pathOf(queue, "workers", { name: fail, of: "--fail" }, "fail");
    const workers: WorkerInfo[] = [];
    let now = 0;
    for await (const page of api.pages<WorkerPage>(path, "workers")) {
      workers.push(...page.workers);
      ({ now } = page);
    }
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
        "If its process still runs, restart it: a handler that hangs goes on, and what it settles is refused. Until it takes a task, at most for an hour, sluice doctor names it.",
      );
    }
    // The last seen first: of a server that restarts again and again, the process that lives.
    const sorted = workers.toSorted((one, other) => (other.seenAt ?? 0) - (one.seenAt ?? 0));
    const quiet = sorted.filter((worker) => isQuiet(worker, now));
    const folded = new Set(all || out.json ? [] : quiet.slice(QUIET_LISTED));
    out.rows(
      sorted.filter((worker) => !folded.has(worker)),
      [
        { title: "NAME", copied: true, of: ({ name }) => name },
        {
          title: "STATE",
          optional: true,
          of: (worker) => stateOf(worker, now),
          color: (cell) => out.colors.yellow(cell),
        },
        { title: "SEEN", ...timeColumn(seen) },
        { title: "TASKS", align: "right", of: ({ working }) => working },
        { title: "NODE", optional: true, of: ({ node }) => node },
        { title: "PID", optional: true, of: ({ pid }) => pid },
        { title: "INCARNATION", optional: true, of: ({ incarnation }) => incarnation },
        { title: "IDS", fills: true, of: ({ tasks }) => tasks.join(" "), cut: wholeWords },
      ],
      `${queue} has no workers: its consumers give no name, or none has pulled for a while.`,
    );
    if (folded.size > 0) out.note(`And ${folded.size} more, without tasks and a sign of life: --all.`);
  });
}

/** How many workers are listed that have no task and show no sign of life. */
const QUIET_LISTED = 5;

/** How long a worker may show no sign of life before the list says so, ms. */
const UNSEEN_AFTER = 300_000;

/**
 * For how long a worker has shown no sign of life; empty if it has lately. `silent`: a sweep fails it. `unseen`: it has
 * tasks, and is perhaps dead. `idle`: it has none, and a living one would look the same.
 */
function stateOf({ seenAt, silentAt, silentAfter, working }: WorkerInfo, now: number): string {
  const unseen = seenAt === null ? 0 : now - seenAt;
  if (seenAt !== null && silentAfter !== undefined && silentAt <= now) return `silent ${span(unseen)}`;
  if (unseen <= UNSEEN_AFTER) return "";
  return `${working > 0 ? "unseen" : "idle"} ${span(unseen)}`;
}

/** Whether a worker has no task and shows no sign of life. Most such have crashed. */
const isQuiet = (worker: WorkerInfo, now: number) =>
  worker.working === 0 && (worker.seenAt === null || stateOf(worker, now) !== "");

function seen({ seenAt, failedAt }: WorkerInfo): number | string {
  return seenAt ?? (failedAt === undefined ? "is being failed" : `failed ${shortTime(failedAt)}`);
}
