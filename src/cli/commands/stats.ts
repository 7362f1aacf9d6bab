import { Command, InvalidArgumentError, Option } from "commander";
import type { QueueCounts } from "../../kernel/tasks/counts.ts";
import type { QueueStatistics } from "../../operate/statistics.ts";
import { type QueueEvent, queueEvents } from "../../kernel/tasks/events.ts";
import { sleep } from "../../sleep.ts";
import { duration, whole } from "../options.ts";
import { counted } from "../../counted.ts";
import { localTime, until } from "../output/times.ts";
import { span } from "../../kernel/options/span.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

interface StatsOptions {
  /** True without an interval. */
  readonly watch?: number | true;
  readonly minutes?: number;
}

/** Rates are means of so many minutes. */
const RATED = 5;

export function statsCommand(running: Running): Command {
  const command = new Command("stats")
    .summary("show counts, and events by the minute")
    .description(
      "Shows the counts of a queue, and its events in each of the last minutes, from the first one that had some. A queue counts events if its setting statistics is on.",
    )
    .argument("<queue>")
    .addOption(
      new Option("--minutes <number>", "how many minutes, 1 to 60 (default: 10, in JSON 60)").argParser(
        whole(1, 60),
      ),
    )
    .addOption(
      new Option(
        "--watch [interval]",
        "show them at this interval until Ctrl-C; at least 100ms (default: 2s)",
      ).argParser(interval),
    );
  return operation(
    running,
    command,
    async (session: Session, { watch, minutes }: StatsOptions, queue: string) => {
      const { api, out, io } = session;
      const every = watch === true ? 2_000 : watch;
      await refuseUnknownQueue(session, queue);
      const round = async () => {
        const counts: QueueCounts = await api.get(pathOf(queue), "pending");
        const statistics: QueueStatistics = await api.get(pathOf(queue, "statistics"), "minutes");
        if (every !== undefined) out.clear();
        if (out.json) {
          const last = statistics.minutes.slice(-(minutes ?? 60));
          out.line({ ...counts, statistics: { ...statistics, minutes: last, queue: undefined } });
        } else show(session, counts, statistics, minutes ?? 10);
      };
      if (every === undefined) return round();
      while (!io.interrupted.aborted) {
        await round();
        await sleep(every, io.interrupted);
      }
    },
  );
}

function interval(text: string): number {
  const ms = duration(text);
  if (ms < 100) throw new InvalidArgumentError("must be at least 100ms");
  return ms;
}

function show(
  { out, where }: Session,
  counts: QueueCounts,
  { on, minutes, totals }: QueueStatistics,
  most: number,
): void {
  const {
    queue,
    pending,
    delayed,
    blocked,
    working,
    rejected,
    oldestAge,
    workers,
    paused,
    pausedUntil,
    stoppedGroups,
  } = counts;
  const facts = [
    `${pending} pending`,
    `${delayed} delayed`,
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    `${working} working`,
    `${rejected} dead`,
    counted(workers, "worker"),
    ...(oldestAge === null ? [] : [`age of next ${span(oldestAge)}`]),
    ...(paused ? [`paused${until(pausedUntil)}`] : []),
    ...(stoppedGroups > 0 ? [counted(stoppedGroups, "stopped group")] : []),
  ];
  out.text(`${out.colors.bold(queue)}  ${localTime(Date.now())}\n${facts.join("  ")}\n`);
  if (!on)
    return out.note(
      `\nEvents are not counted. To count them: sluice settings ${queue} statistics=on${where}`,
    );
  // Before it, the statistics may have been off.
  const { since } = totals;
  if (since === null) return out.note("\nNo event was counted since the statistics were switched on.");
  const known = minutes.filter(({ startsAt }) => startsAt >= since);
  const shown = queueEvents.filter((event) => known.some((minute) => minute[event] > 0));
  out.text("\n");
  out.rows(
    known.slice(-most).map((minute) => ({ ...minute, title: localTime(minute.startsAt).slice(11, 16) })),
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
  // Without the current minute, which is not over.
  const rated = known.slice(-RATED - 1, -1);
  if (rated.length === 0 || shown.length === 0) return;
  const mean = (event: QueueEvent) => rated.reduce((sum, minute) => sum + minute[event], 0) / rated.length;
  const rates = shown.map((event) => `${event} ${mean(event).toFixed(1)}`);
  out.text(`\nper minute, mean of ${rated.length}: ${rates.join("  ")}\n`);
}
