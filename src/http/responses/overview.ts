import type { QueueOverview } from "../../queue/operate/count-queues.ts";
import type { CallCounts, DurationCounts, MinuteCounts } from "../../queue/operate/statistics.ts";
import type { QueueEvent } from "../../queue/tasks/events.ts";

/** The events of which an overview has a series. */
export const seriesEvents = [
  "enqueued",
  "dequeued",
  "completed",
  "requeued",
  "rejected",
  "reclaimed",
] as const satisfies readonly QueueEvent[];

/** An overview as a reply has it: short, because one reply may have a hundred. */
export function overviewReply({ now: _, leases: __, statistics, ...overview }: QueueOverview) {
  const { on, perMinute, minutes } = statistics;
  const series = seriesEvents.map((event) => [event, minutes.map((minute) => minute[event])]);
  return {
    ...overview,
    statistics: {
      on,
      perMinute,
      series: Object.fromEntries(series) as Record<(typeof seriesEvents)[number], number[]>,
      waits: sumOf(minutes, "waits"),
      runs: sumOf(minutes, "runs"),
      calls: {
        enqueue: callsOf(minutes, "enqueue"),
        dequeue: callsOf(minutes, "dequeue"),
        settle: callsOf(minutes, "settle"),
        other: callsOf(minutes, "other"),
      },
    },
  };
}

function sumOf(minutes: readonly MinuteCounts[], kind: "waits" | "runs"): DurationCounts {
  const all = minutes.map((minute) => minute[kind]);
  const sum = (read: (durations: DurationCounts) => number) =>
    all.reduce((total, durations) => total + read(durations), 0);
  return {
    count: sum(({ count }) => count),
    total: sum(({ total }) => total),
    classes: (all[0]?.classes ?? []).map((_, at) => sum(({ classes }) => classes[at] ?? 0)),
  };
}

const callsOf = (minutes: readonly MinuteCounts[], kind: keyof CallCounts) =>
  minutes.reduce((sum, { calls }) => sum + calls[kind], 0);
