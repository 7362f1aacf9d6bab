import { Command, Option } from "commander";
import { UsageError } from "../exit.ts";
import { type FilterOptions, filterOf, isFiltered, whole, withFilter } from "../options.ts";
import { counted } from "../../counted.ts";
import { shellQuoted } from "../../shell-quoted.ts";
import { shortTime } from "../output/times.ts";
import { operation, type Running, type Session } from "../session.ts";
import { type DeadLetterCounts, sumOfDeadLetters } from "../../operate/dead-letters.ts";
import { atMost, errorOf, listFrom, pathOf, tasksOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";
import { allQueues } from "./queues.ts";

interface DeadOptions extends FilterOptions {
  readonly limit: number;
}

export function deadCommand(running: Running): Command {
  const command = withFilter(
    new Command("dead")
      .summary("show dead letters by cause, and the latest ones")
      .description(
        "Shows the dead letters of a queue: how many there are for each cause, and the latest ones. Without a queue, it lists the queues that have some.",
      )
      .argument("[queue]")
      .addOption(new Option("--limit <number>", "list at most this many").argParser(whole(0)).default(10)),
    "dead letters",
  );
  return operation(running, command, async (session: Session, options: DeadOptions, queue?: string) => {
    const { out, io, where } = session;
    const hasLimit = command.getOptionValueSource("limit") === "cli";
    const isLimited = !out.json || hasLimit;
    const filter = filterOf(options);
    if (queue === undefined) {
      if (hasLimit) throw new UsageError("--limit needs a queue");
      return queuesWithDeadLetters(session, isFiltered(options) ? filter : undefined);
    }
    const list = { state: "rejected", ...filter } as const;
    if (!isLimited) {
      let count = 0;
      for await (const task of tasksOf(session, queue, { ...list, size: 1_000 })) {
        out.line(task);
        count++;
      }
      return count === 0 ? refuseUnknownQueue(session, queue) : undefined;
    }
    const { limit } = options;
    const newest = tasksOf(session, queue, { ...list, size: Math.min(limit, 1_000) || 1, reverse: true });
    const latest = await listFrom(atMost(limit, newest));
    if (latest.length === 0) await refuseUnknownQueue(session, queue);
    if (out.json) return out.rows(latest, [], "");
    const counts = await countsOf(session, queue, filter);
    out.text(`${out.colors.bold(`${counted(counts.counted, "dead letter")} of ${queue}`)}\n`);
    if (counts.counted === 0) return;
    out.text("\n");
    out.rows(
      counts.causes,
      [
        { title: "COUNT", align: "right", of: ({ count }) => count },
        { title: "REASON", of: ({ reason }) => reason },
        { title: "FIRST", of: ({ firstAt }) => shortTime(firstAt) },
        { title: "LAST", of: ({ lastAt }) => shortTime(lastAt) },
        {
          title: "ERROR",
          fills: true,
          below: true,
          of: ({ error }) => error,
          color: (cell) => out.colors.red(cell),
        },
      ],
      "",
    );
    if (counts.otherCauses > 0) out.text(`${counts.otherCauses} have other causes.\n`);
    if (latest.length > 0) out.text("\n");
    out.rows(
      latest,
      [
        { title: "ID", copied: true, of: ({ id }) => id },
        { title: "DIED", of: ({ endedAt }) => shortTime(endedAt ?? 0) },
        { title: "DELIVERIES", align: "right", of: ({ attempt }) => attempt },
        { title: "GROUP", optional: true, of: ({ group }) => group },
        { title: "ERROR", fills: true, below: true, of: errorOf },
      ],
      "",
    );
    if (io.stdout.isTTY) out.note(nextSteps(queue, counts, where));
  });
}

/** @param filter to be matched, if there is one */
async function queuesWithDeadLetters(session: Session, filter: object | undefined): Promise<void> {
  const { api, out } = session;
  const found: { readonly queue: string; readonly dead: number }[] = [];
  for (const { name, counts } of await allQueues(api)) {
    const all = counts?.rejected ?? 0;
    const dead = all > 0 && filter ? (await countsOf(session, name, filter)).counted : all;
    if (dead > 0) found.push({ queue: name, dead });
  }
  out.rows(
    found,
    [
      { title: "QUEUE", copied: true, of: ({ queue }) => queue },
      { title: "DEAD", align: "right", of: ({ dead }) => dead, color: (cell) => out.colors.red(cell) },
    ],
    filter ? "No dead letter matches." : "No queue has dead letters.",
  );
}

/** All dead letters that match, by cause. */
async function countsOf({ api }: Session, queue: string, filter: object): Promise<DeadLetterCounts> {
  const { reason, ...query } = filter as ReturnType<typeof filterOf>;
  let sum: DeadLetterCounts | undefined;
  const pages = api.pages<DeadLetterCounts>(pathOf(queue, "dead-letters"), "causes", {
    ...query,
    reason: reason === undefined ? undefined : [reason].flat().join(","),
  });
  for await (const page of pages) sum = sum ? sumOfDeadLetters(sum, page) : page;
  return sum as DeadLetterCounts;
}

/** What to look at and do next: commands that can be copied. */
function nextSteps(queue: string, { causes, otherCauses }: DeadLetterCounts, where: string): string {
  const [last] = causes.toSorted((one, other) => other.lastAt - one.lastAt);
  const [of, id] = [queue, last?.latest.id ?? ""].map(shellQuoted);
  const areFinal = otherCauses === 0 && causes.every(({ reason }) => reason === "rejected");
  const rejected = areFinal ? " --rejected" : "";
  return `
One of them, with history and payload:  sluice show ${of} ${id}${where}
What a redrive would take:              sluice redrive ${of}${rejected} --dry-run${where}`;
}
