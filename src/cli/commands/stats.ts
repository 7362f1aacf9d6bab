import { Command, InvalidArgumentError, Option } from "commander";
import type { QueueCounts } from "../../kernel/tasks/counts.ts";
import type { QueueStatistics } from "../../operate/statistics.ts";
import { queueEvents } from "../../kernel/tasks/events.ts";
import { sleep } from "../../sleep.ts";
import { duration } from "../options.ts";
import { counted } from "../../counted.ts";
import { localTime } from "../output/times.ts";
import { span } from "../../kernel/options/span.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

interface StatsOptions {
  /** True without an interval. */
  readonly watch?: number | true;
}

/** How many minutes the table has. */
const MINUTES = 10;

export function statsCommand(running: Running): Command {
  const command = new Command("stats")
    .summary("show counts, and events by the minute")
    .description(
      "Shows the counts of a queue, and its events in each of the last ten minutes. A queue counts events if its setting statistics is on.",
    )
    .argument("<queue>")
    .addOption(
      new Option(
        "--watch [interval]",
        "show them at this interval until Ctrl-C; at least 100ms (default: 2s)",
      ).argParser(interval),
    );
  return operation(running, command, async (session: Session, { watch }: StatsOptions, queue: string) => {
    const { api, out, io } = session;
    const every = watch === true ? 2_000 : watch;
    await refuseUnknownQueue(session, queue);
    const round = async () => {
      const counts: QueueCounts = await api.get(pathOf(queue), "pending");
      const statistics: QueueStatistics = await api.get(pathOf(queue, "statistics"), "minutes");
      if (every !== undefined) out.clear();
      if (out.json) out.line({ ...counts, statistics: { ...statistics, queue: undefined } });
      else show(session, counts, statistics);
    };
    if (every === undefined) return round();
    while (!io.interrupted.aborted) {
      await round();
      await sleep(every, io.interrupted);
    }
  });
}

function interval(text: string): number {
  const ms = duration(text);
  if (ms < 100) throw new InvalidArgumentError("must be at least 100ms");
  return ms;
}

function show(
  { out, where }: Session,
  counts: QueueCounts,
  { on, minutes, perMinute }: QueueStatistics,
): void {
  const { queue, pending, delayed, working, rejected, oldestAge, workers, paused } = counts;
  const facts = [
    `${pending} pending`,
    `${delayed} delayed`,
    `${working} working`,
    `${rejected} dead`,
    counted(workers, "worker"),
    ...(oldestAge === null ? [] : [`age of next ${span(oldestAge)}`]),
    ...(paused ? ["paused"] : []),
  ];
  out.text(`${out.colors.bold(queue)}  ${localTime(Date.now())}\n${facts.join("  ")}\n`);
  if (!on)
    return out.note(
      `\nEvents are not counted. To count them: sluice settings ${queue} statistics=on${where}`,
    );
  const shown = queueEvents.filter((event) => minutes.some((minute) => minute[event] > 0));
  out.text("\n");
  out.rows(
    minutes.slice(-MINUTES).map((minute) => ({ ...minute, title: localTime(minute.startsAt).slice(11, 16) })),
    [
      { title: "MINUTE", of: ({ title }) => title },
      ...shown.map((event) => ({
        title: event.toUpperCase(),
        align: "right" as const,
        of: (minute: Readonly<Record<typeof event, number>>) => minute[event],
      })),
    ],
    "",
  );
  const rates = shown.map((event) => `${event} ${perMinute[event].toFixed(1)}`);
  if (rates.length > 0) out.text(`\nper minute, mean of five: ${rates.join("  ")}\n`);
}
