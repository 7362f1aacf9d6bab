import { Command, Option } from "commander";
import { type FilterOptions, filterOf, whole, withFilter } from "../options.ts";
import { counted } from "../output/counted.ts";
import { errorLine } from "../output/printable.ts";
import { shortTime } from "../output/times.ts";
import { operation, type Running, type Session } from "../session.ts";
import { atMost, listFrom, type ShownTask, tasksOf } from "../tasks.ts";
import { allQueues } from "./queues.ts";

interface DeadOptions extends FilterOptions {
  readonly limit: number;
}

/** How many dead letters the summary reads. */
const SUMMARIZED = 10_000;

export function deadCommand(running: Running): Command {
  const command = withFilter(
    new Command("dead")
      .summary("show dead letters by cause, and the latest ones")
      .description(
        "Shows the dead letters of a queue: how many there are for each cause, and the latest ones. Without a queue, the queues that have dead letters.",
      )
      .argument("[queue]")
      .addOption(new Option("--limit <number>", "list at most this many").argParser(whole(0)).default(10)),
    "dead letters",
  );
  return operation(running, command, async (session: Session, options: DeadOptions, queue?: string) => {
    if (queue === undefined) return queuesWithDeadLetters(session);
    const { out, io, where } = session;
    const query = { state: "rejected", size: 1_000, ...filterOf(options) } as const;
    const tasks = await listFrom(atMost(SUMMARIZED, tasksOf(session, queue, query)));
    // The oldest come first from Redis; a person looks for the latest.
    const latest = tasks.toReversed().slice(0, options.limit);
    if (out.json)
      return out.rows(command.getOptionValueSource("limit") === "cli" ? latest : tasks.toReversed(), [], "");
    const title = `${counted(tasks.length, "dead letter")} of ${queue}`;
    const isCut = tasks.length === SUMMARIZED;
    out.text(`${out.colors.bold(isCut ? `The oldest ${title}` : title)}\n`);
    if (isCut) out.note("There may be more. To see later ones, add --since, such as --since 1h.");
    if (tasks.length === 0) return;
    out.text("\n");
    out.rows(
      causesOf(tasks),
      [
        { title: "COUNT", align: "right", of: ({ count }) => count },
        { title: "REASON", of: ({ reason }) => reason },
        { title: "FIRST", of: ({ first }) => shortTime(first) },
        { title: "LAST", of: ({ last }) => shortTime(last) },
        { title: "ERROR", fills: true, of: ({ error }) => error, color: (cell) => out.colors.red(cell) },
      ],
      "",
    );
    if (latest.length > 0) out.text("\n");
    out.rows(
      latest,
      [
        { title: "ID", of: ({ id }) => id },
        { title: "DIED", of: ({ endedAt }) => shortTime(endedAt ?? 0) },
        { title: "DELIVERIES", align: "right", of: ({ attempt }) => attempt },
        { title: "GROUP", optional: true, of: ({ group }) => group },
        { title: "ERROR", fills: true, of: causeOf },
      ],
      "",
    );
    if (io.stdout.isTTY) out.note(nextSteps(queue, tasks, where));
  });
}

async function queuesWithDeadLetters({ api, out }: Session): Promise<void> {
  const found = (await allQueues(api, true)).flatMap(({ name, counts }) =>
    counts && counts.rejected > 0 ? [{ queue: name, dead: counts.rejected }] : [],
  );
  out.rows(
    found,
    [
      { title: "QUEUE", of: ({ queue }) => queue },
      { title: "DEAD", align: "right", of: ({ dead }) => dead, color: (cell) => out.colors.red(cell) },
    ],
    "No queue has dead letters.",
  );
}

interface Cause {
  readonly error: string;
  readonly reason: string;
  count: number;
  readonly first: number;
  last: number;
}

/** The dead letters by cause, the most frequent first. The tasks are in the order of their deaths. */
function causesOf(tasks: readonly ShownTask[]): Cause[] {
  const causes = new Map<string, Cause>();
  for (const task of tasks) {
    const error = withoutNumbers(causeOf(task));
    const { reason = "", endedAt = 0 } = task;
    const key = `${reason} ${error}`;
    const cause = causes.get(key) ?? { error, reason, count: 0, first: endedAt, last: endedAt };
    cause.count++;
    cause.last = endedAt;
    causes.set(key, cause);
  }
  return [...causes.values()].toSorted((one, other) => other.count - one.count);
}

function causeOf({ error, reason }: ShownTask): string {
  if (error !== undefined) return errorLine(error);
  return reason === "lease_expired" ? "the lease expired: crashed, hung, or too slow" : "";
}

/** Ids and long numbers would make a cause of each error. */
function withoutNumbers(text: string): string {
  return text.replace(/\b(?=[\w-]*\d)[\w-]{12,}\b|\d{5,}/g, "…");
}

/** What to look at and do next: commands that can be copied. */
function nextSteps(queue: string, tasks: readonly ShownTask[], where: string): string {
  const isFinal = tasks.every(({ reason }) => reason === "rejected");
  const rejected = isFinal ? " --rejected" : "";
  return `
One of them, with history and payload:  sluice show ${queue} ${tasks.at(-1)?.id}${where}
What a redrive would take:              sluice redrive ${queue}${rejected} --dry-run${where}`;
}
