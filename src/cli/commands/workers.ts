import { Command } from "commander";
import { counted } from "../../counted.ts";
import { span } from "../../kernel/options/span.ts";
import type { WorkerFailed, WorkerInfo, WorkerPage } from "../../operate/workers.ts";
import { shortTime, timeColumn } from "../output/times.ts";
import { Refusal, UsageError } from "../exit.ts";
import { nearestName } from "../../nearest-name.ts";
import { operation, type Running, type Session } from "../session.ts";
import { shellQuoted } from "../../shell-quoted.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

interface WorkersOptions {
  readonly fail?: string;
  readonly all?: true;
  readonly forget?: string;
}

export function workersCommand(running: Running): Command {
  const command = new Command("workers")
    .summary("list the workers of a queue; take the tasks of a dead one back; forget one")
    .description("Lists the workers of a queue with their tasks. A worker is a consumer that gives its name.")
    .argument("<queue>")
    .option(
      "--fail <name>",
      "take the tasks of this worker back: they become pending at once; restart its process yourself",
    )
    .option(
      "--forget <name>",
      "take this worker, which has ended and has no tasks, off the list; a living one comes back",
    )
    .option("--all", `list all without tasks and without a sign of life, not the last ${QUIET_LISTED} alone`);
  return operation(running, command, async (session: Session, options: WorkersOptions, queue: string) => {
    const { fail, forget, all = false } = options;
    if (fail !== undefined && forget !== undefined)
      throw new UsageError(
        "--forget must not be given with --fail, which takes the worker off the list, too",
      );
    const { api, out } = session;
    const path = pathOf(queue, "workers");
    const forgetPath = forget === undefined ? "" : pathOf(queue, "workers", { name: forget, of: "--forget" });
    const failPath = fail === undefined ? "" : pathOf(queue, "workers", { name: fail, of: "--fail" }, "fail");
    const workers: WorkerInfo[] = [];
    let now = 0;
    for await (const page of api.pages<WorkerPage>(path, "workers")) {
      workers.push(...page.workers);
      ({ now } = page);
    }
    if (workers.length === 0) await refuseUnknownQueue(session, queue);
    if (forget !== undefined) {
      const processes = named(session, queue, workers, forget, "it left the list");
      const forgotten = await forgetWorker(session, queue, processes, forgetPath);
      out.value({ queue, worker: forget, forgotten: true }, `Took ${forget} off the list of ${queue}.`);
      const living = forgotten.filter(({ state }) => state !== "gone");
      const last = Math.max(...living.map(({ seenAt }) => seenAt ?? 0));
      if (last > 0)
        out.note(
          `It was seen ${span(now - last)} ago. If it lives, it comes back with its next sign of life.`,
        );
      return;
    }
    if (fail !== undefined) {
      const processes = named(session, queue, workers, fail, "its tasks were taken back");
      return failWorker(session, queue, fail, processes, failPath);
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
        { title: "IDS", fills: true, below: true, of: ({ tasks }) => tasks.join(" ") },
      ],
      `${queue} has no workers: its consumers give no name, or none has pulled for a while.`,
    );
    if (folded.size > 0) out.note(`And ${folded.size} more, without tasks and a sign of life: --all.`);
  });
}

/**
 * The processes that have a name.
 * @param done why there may be none
 * @throws {Refusal} with the most similar name, if there is none
 */
function named(
  { where }: Session,
  queue: string,
  workers: readonly WorkerInfo[],
  name: string,
  done: string,
): WorkerInfo[] {
  const found = workers.filter((worker) => worker.name === name);
  if (found.length > 0) return found;
  const names = workers.map((worker) => worker.name);
  const nearest = nearestName(name, names);
  const meant = nearest === undefined ? `perhaps ${done} already.` : `did you mean ${nearest}?`;
  throw new Refusal(
    `${queue} has no worker ${name}; ${meant} To list all: sluice workers ${shellQuoted(queue)} --all${where}`,
  );
}

/** Takes the tasks of all processes of a name back. @param processes as they were listed before */
async function failWorker(
  { api, out }: Session,
  queue: string,
  worker: string,
  processes: readonly WorkerInfo[],
  path: string,
): Promise<void> {
  const total = { returned: 0, rejected: 0 };
  let more: boolean;
  do {
    const report: WorkerFailed = await api.send("POST", path, "returned");
    total.returned += report.returned;
    total.rejected += report.rejected;
    more = report.more;
  } while (more);
  const hadTasks = total.returned + total.rejected > 0;
  const idle = processes.every(({ seenAt }) => seenAt === null)
    ? `${worker} has no tasks: they were taken back before.`
    : `${worker} had no tasks. It is off the list of ${queue} until its next sign of life.`;
  const taken = `Took the tasks of ${worker} back: ${total.returned} pending, ${total.rejected} rejected.`;
  out.value({ queue, worker, ...total }, hadTasks ? taken : idle);
  if (hadTasks)
    out.note(
      "If its process still runs, restart it: a handler that hangs goes on, and what it settles is refused. Until it takes a task, at most for an hour, sluice doctor names it; if it has ended, --forget ends that.",
    );
}

/**
 * @returns the processes that were forgotten: those of the name that have no tasks
 * @throws {Refusal} if each of the processes has tasks
 */
async function forgetWorker(
  { api, where }: Session,
  queue: string,
  processes: readonly WorkerInfo[],
  path: string,
): Promise<readonly WorkerInfo[]> {
  const ended = processes.filter(({ working }) => working === 0);
  const [holder] = processes;
  if (holder && ended.length === 0)
    throw new Refusal(
      `${holder.name} has ${counted(holder.working, "task")}; only a worker without tasks can be forgotten. If it is dead, take them back: sluice workers ${queue} --fail ${shellQuoted(holder.name)}${where}`,
    );
  for (const { incarnation } of ended) {
    const query = incarnation === undefined ? "" : `?incarnation=${encodeURIComponent(incarnation)}`;
    await api.send("DELETE", path + query, "forgotten");
  }
  return ended;
}

/** How many workers are listed that have no task and show no sign of life. */
const QUIET_LISTED = 5;

/** How long a worker may show no sign of life before the list says so, ms. */
const UNSEEN_AFTER = 300_000;

/**
 * `working` or `idle` while it lives, and for how long it is `gone`. Of a worker that gives no time for that only for how
 * long it was `unseen`, if it is long: it is perhaps dead, but a living one would look the same.
 */
function stateOf({ state, seenAt, failedAt }: WorkerInfo, now: number): string {
  const unseen = now - (seenAt ?? failedAt ?? now);
  if (state === "gone") return `gone ${span(unseen)}`;
  return state ?? (unseen > UNSEEN_AFTER ? `unseen ${span(unseen)}` : "");
}

/** Whether a worker has no task and shows no sign of life. Most such have crashed. */
const isQuiet = (worker: WorkerInfo, now: number) =>
  worker.working === 0 && /^(?:gone|unseen)/.test(stateOf(worker, now));

function seen({ seenAt, failedAt }: WorkerInfo): number | string {
  return seenAt ?? (failedAt === undefined ? "is being failed" : `failed ${shortTime(failedAt)}`);
}
