import type { NotCounted, QueueTotals } from "../../operate/count-queues.ts";
import { estimatedCommands } from "../../operate/estimated-commands.ts";
import { durationBounds, type DurationCounts } from "../../operate/statistics.ts";
import type { MetricFamily, Sample } from "./open-metrics.ts";

/** What a scrape found. */
export interface Scrape {
  readonly queues: readonly (QueueTotals | NotCounted)[];
  /** True if not all queues were read. */
  readonly truncated: boolean;
  /** About how many Redis commands it cost. */
  readonly commands: number;
}

const NEEDS_STATISTICS = "Only of queues that keep statistics.";

/** The metrics of queues. */
export function queueMetrics({ queues, truncated, commands }: Scrape): MetricFamily[] {
  const read = queues.filter((one): one is QueueTotals => !("code" in one));
  const counted = read.filter(({ settings }) => settings.statistics);

  const gauge = (name: string, help: string, value: (queue: QueueTotals) => number): MetricFamily => ({
    name,
    type: "gauge",
    unit: name.endsWith("_seconds") ? "seconds" : undefined,
    help,
    samples: read.map((one) => ({ labels: { queue: one.queue }, value: value(one) })),
  });
  /** `by`: the values by a further label. */
  const counter = (
    name: string,
    help: string,
    value: (
      totals: QueueTotals["totals"],
    ) => number | { label: string; by: Readonly<Record<string, number>> },
  ): MetricFamily => ({
    name,
    type: "counter",
    help: `${help} ${NEEDS_STATISTICS}`,
    samples: counted.flatMap(({ queue, totals }): Sample[] => {
      const found = value(totals);
      if (typeof found === "number") return [{ suffix: "_total", labels: { queue }, value: found }];
      return Object.entries(found.by).map(([key, number]) => {
        return { suffix: "_total", labels: { queue, [found.label]: key }, value: number };
      });
    }),
  });
  const histogram = (
    name: string,
    help: string,
    durations: (totals: QueueTotals["totals"]) => DurationCounts,
  ): MetricFamily => ({
    name,
    type: "histogram",
    unit: "seconds",
    help: `${help} ${NEEDS_STATISTICS}`,
    samples: counted.flatMap(({ queue, totals }) => histogramOf({ queue }, durations(totals))),
  });

  return [
    {
      name: "sluice_queue_tasks",
      type: "gauge",
      help: "Tasks by state. Rejected tasks are dead letters.",
      samples: read.flatMap(({ queue, pending, delayed, blocked, working, rejected }) =>
        Object.entries({ pending, delayed, blocked, working, rejected }).map(([state, value]) => {
          return { labels: { queue, state }, value };
        }),
      ),
    },
    gauge(
      "sluice_queue_oldest_age_seconds",
      "How long ago the next pending task was enqueued; 0 if none is pending.",
      ({ oldestAge }) => (oldestAge ?? 0) / 1_000,
    ),
    gauge(
      "sluice_queue_workers",
      "Workers that are not gone, or still have tasks.",
      ({ workers }) => workers,
    ),
    gauge("sluice_queue_paused", "1 while the queue is paused.", ({ paused }) => Number(paused)),
    gauge(
      "sluice_queue_stopped_groups",
      "Groups in strict order that a dead letter has stopped.",
      ({ stoppedGroups }) => stoppedGroups,
    ),
    gauge("sluice_queue_broken_entries", "Unreadable entries, set aside by pulls.", ({ broken }) => broken),
    {
      name: "sluice_queue_unreadable",
      type: "gauge",
      help: "1 for a queue that could not be read. It has no other metrics.",
      samples: queues.flatMap((one) =>
        "code" in one ? [{ labels: { queue: one.queue, code: one.code }, value: 1 }] : [],
      ),
    },
    counter("sluice_tasks_enqueued", "Tasks that were enqueued.", ({ enqueued }) => enqueued),
    counter("sluice_tasks_dequeued", "Tasks that were delivered, each time.", ({ dequeued }) => dequeued),
    counter(
      "sluice_tasks_ended",
      "Tasks that ended. Rejected tasks are dead letters.",
      ({ completed, rejected, cancelled }) => ({ label: "state", by: { completed, rejected, cancelled } }),
    ),
    counter("sluice_tasks_requeued", "Tasks that their holder requeued.", ({ requeued }) => requeued),
    counter(
      "sluice_tasks_reclaimed",
      "Tasks whose lease expired or whose worker failed.",
      (one) => one.reclaimed,
    ),
    counter("sluice_tasks_redriven", "Dead letters that were redriven.", ({ redriven }) => redriven),
    counter(
      "sluice_task_attempts",
      "Attempts of tasks that completed or became dead letters.",
      (one) => one.attempts,
    ),
    counter("sluice_calls", "Calls that had an effect, by kind.", ({ calls }) => ({
      label: "kind",
      by: { ...calls },
    })),
    counter(
      "sluice_commands",
      "Estimate of the Redis commands of these calls: each call at the cost of a plain one.",
      ({ calls }) => estimatedCommands(calls),
    ),
    histogram("sluice_task_wait_seconds", "From the enqueue to the first delivery.", ({ waits }) => waits),
    histogram("sluice_task_run_seconds", "From a delivery to its settle.", ({ runs }) => runs),
    {
      name: "sluice_scrape_truncated",
      type: "gauge",
      help: "1 if there are more queues than one scrape reads.",
      samples: [{ value: Number(truncated) }],
    },
    {
      name: "sluice_scrape_commands",
      type: "gauge",
      help: "Estimate of the Redis commands of this scrape.",
      samples: [{ value: commands }],
    },
  ];
}

/** Bounds in seconds, written as both formats write floats. */
const bounds = durationBounds.map((ms) => {
  const seconds = String(ms / 1_000);
  return seconds.includes(".") ? seconds : `${seconds}.0`;
});

function histogramOf(
  labels: { readonly queue: string },
  { count, total, classes }: DurationCounts,
): Sample[] {
  let below = 0;
  const buckets = [...bounds, "+Inf"].map((le, at): Sample => {
    below += classes[at] ?? 0;
    return { suffix: "_bucket", labels: { ...labels, le }, value: below };
  });
  return [
    ...buckets,
    { suffix: "_count", labels, value: count },
    { suffix: "_sum", labels, value: total / 1_000 },
  ];
}
