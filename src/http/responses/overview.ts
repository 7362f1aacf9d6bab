import type { QueueOverview } from "../../operate/count-queues.ts";
import {
  failedAttempts,
  type CallCounts,
  type DurationCounts,
  type MinuteCounts,
} from "../../operate/statistics.ts";

/** What an overview has a series of: tasks by event, and `failed`, the attempts that failed. */
export const seriesNames = ["enqueued", "dequeued", "completed", "failed"] as const;

type Series = Readonly<Record<(typeof seriesNames)[number], readonly number[]>>;

/** An overview as a reply has it: short, because one reply may have a hundred. */
export function overviewReply({ now: _, leases: __, statistics, ...overview }: QueueOverview) {
  const { on, perMinute, minutes } = statistics;
  const series: Series = {
    enqueued: minutes.map(({ enqueued }) => enqueued),
    dequeued: minutes.map(({ dequeued }) => dequeued),
    completed: minutes.map(({ completed }) => completed),
    failed: minutes.map(failedAttempts),
  };
  return {
    ...overview,
    statistics: {
      on,
      perMinute,
      series,
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
