import type { seriesNames } from "../response-schemas/queues.ts";
import type { QueueOverview } from "../../operate/count-queues.ts";
import { p95, waitP95 } from "../../operate/percentiles.ts";
import {
  BUCKET_MINUTES,
  failedAttempts,
  type CallCounts,
  type DurationCounts,
  type MinuteCounts,
} from "../../operate/statistics.ts";

type Series = Readonly<Record<(typeof seriesNames)[number], readonly number[]>>;

/** An overview as a reply has it: short, because one reply may have a hundred. */
export function overviewReply({ now: _, leases: __, statistics, ...overview }: QueueOverview) {
  const { on, perMinute, minutes } = statistics;
  const waits = sumOf(minutes, "waits");
  return {
    ...overview,
    statistics: {
      on,
      perMinute,
      series: seriesOf(minutes),
      waits,
      waitP95: on ? waitP95(waits, overview) : null,
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

/** The history as a reply has it. */
export function historyReply(history: readonly MinuteCounts[]) {
  return {
    startsAt: history[0]?.startsAt ?? 0,
    every: BUCKET_MINUTES * 60_000,
    series: seriesOf(history),
    waitP95: history.map(({ waits }) => p95(waits)),
    runP95: history.map(({ runs }) => p95(runs)),
  };
}

const seriesOf = (periods: readonly MinuteCounts[]): Series => ({
  enqueued: periods.map(({ enqueued }) => enqueued),
  dequeued: periods.map(({ dequeued }) => dequeued),
  completed: periods.map(({ completed }) => completed),
  failed: periods.map(failedAttempts),
});

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
