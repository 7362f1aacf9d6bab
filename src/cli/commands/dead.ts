import { Command, Option } from "commander";
import { type FilterOptions, filterOf, whole, withFilter } from "../options.ts";
import { counted } from "../../counted.ts";
import { shellQuoted } from "../../shell-quoted.ts";
import { shortTime } from "../output/times.ts";
import { operation, type Running, type Session } from "../session.ts";
import { errorOf, type ShownTask, tasksOf } from "../tasks.ts";
import { noteUnknownQueue } from "../unknown-queue-note.ts";
import { allQueues } from "./queues.ts";

interface DeadOptions extends FilterOptions {
  readonly limit: number;
}

export function deadCommand(running: Running): Command {
  const command = withFilter(
    new Command("dead")
      .summary("show dead letters by cause, and the latest ones")
      .description(
        "Shows the dead letters of a queue: how many there are for each cause, and the latest ones. Without a queue, it lists the queues that have dead letters.",
      )
      .argument("[queue]")
      .addOption(new Option("--limit <number>", "list at most this many").argParser(whole(0)).default(10)),
    "dead letters",
  );
  return operation(running, command, async (session: Session, options: DeadOptions, queue?: string) => {
    if (queue === undefined) return queuesWithDeadLetters(session);
    const { out, io, where } = session;
    const isLimited = !out.json || command.getOptionValueSource("limit") === "cli";
    const query = { state: "rejected", size: 1_000, ...filterOf(options) } as const;
    const causes = new Causes();
    let latest: ShownTask[] = [];
    // The oldest come first from each partition; a person looks for the latest.
    for await (const task of tasksOf(session, queue, query)) {
      causes.add(task);
      if (!isLimited) out.line(task);
      else if (latest.push(task) >= 2 * options.limit + 1_000) latest = lastOf(latest, options.limit);
    }
    latest = lastOf(latest, options.limit).toReversed();
    if (!out.json) out.text(`${out.colors.bold(`${counted(causes.total, "dead letter")} of ${queue}`)}\n`);
    if (causes.total === 0) return noteUnknownQueue(session, queue);
    if (out.json) return out.rows(latest, [], "");
    out.text("\n");
    out.rows(
      causes.list(),
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
        { title: "ERROR", fills: true, of: errorOf },
      ],
      "",
    );
    if (io.stdout.isTTY) out.note(nextSteps(queue, causes, where));
  });
}

async function queuesWithDeadLetters({ api, out }: Session): Promise<void> {
  const found = (await allQueues(api)).flatMap(({ name, counts }) =>
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
  first: number;
  last: number;
}

/** Most causes that are counted apart. */
const MOST_CAUSES = 1_000;

/** Dead letters by cause. */
class Causes {
  readonly #causes = new Map<string, Cause>();
  total = 0;
  /** The latest one. */
  latest: Pick<ShownTask, "id" | "endedAt"> | undefined;
  /** True if consumers rejected all of them for good. */
  areFinal = true;

  add(task: ShownTask): void {
    const { id, reason = "", endedAt = 0 } = task;
    const own = withoutNumbers(errorOf(task));
    const isNew = !this.#causes.has(`${reason} ${own}`);
    const error = isNew && this.#causes.size >= MOST_CAUSES ? "other errors" : own;
    const key = `${reason} ${error}`;
    const cause = this.#causes.get(key) ?? { error, reason, count: 0, first: endedAt, last: endedAt };
    cause.count++;
    cause.first = Math.min(cause.first, endedAt);
    cause.last = Math.max(cause.last, endedAt);
    this.#causes.set(key, cause);
    this.total++;
    if (endedAt >= (this.latest?.endedAt ?? 0)) this.latest = { id, endedAt };
    this.areFinal &&= reason === "rejected";
  }

  /** The most frequent first. */
  list(): Cause[] {
    return [...this.#causes.values()].toSorted((one, other) => other.count - one.count);
  }
}

const lastOf = (tasks: ShownTask[], most: number) =>
  most === 0 ? [] : tasks.toSorted((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0)).slice(-most);

/** Ids and long numbers would make a cause of each error. */
function withoutNumbers(text: string): string {
  return text.replace(/\b(?=[\w-]*\d)[\w-]{12,}\b|\d{5,}/g, "…");
}

/** What to look at and do next: commands that can be copied. */
function nextSteps(queue: string, { latest, areFinal }: Causes, where: string): string {
  const [of, id] = [queue, latest?.id ?? ""].map(shellQuoted);
  const rejected = areFinal ? " --rejected" : "";
  return `
One of them, with history and payload:  sluice show ${of} ${id}${where}
What a redrive would take:              sluice redrive ${of}${rejected} --dry-run${where}`;
}
