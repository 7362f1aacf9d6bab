import { may } from "../access.ts";
import { changeSettings } from "../api/queues.ts";
import type { Overview } from "../api/types.ts";
import { HistoryChart } from "../parts/charts.tsx";
import { Failure, useAction } from "../parts/dialog.tsx";

const MINUTE = 60_000;

interface HistoryProps {
  readonly overview: Overview;
  /** Redis's time, epoch ms. */
  readonly now: number;
  readonly onChanged: () => void;
}

/** What the queue has done in the last hour or day. */
export function History({ overview, now, onChanged }: HistoryProps) {
  const { queue, statistics } = overview;
  const turnOn = useAction(() => changeSettings(queue, { statistics: true }), onChanged);
  if (!statistics.on) {
    return (
      <div class="note">
        <p>
          This queue keeps no statistics, so there are no rates and no chart. Statistics cost one more command
          for each enqueue of a single task, and at most one more a minute.
        </p>
        {may("admin", queue) && (
          <button type="button" onClick={turnOn.start} disabled={turnOn.busy}>
            Keep statistics
          </button>
        )}
        <Failure error={turnOn.error} />
      </div>
    );
  }
  const { series } = statistics;
  const last = now - (now % MINUTE);
  const count = series.completed.length;
  return (
    <Chart
      {...{ series, title: "Tasks a minute", period: "last hour", unit: "a minute" }}
      starts={series.completed.map((_, i) => last - (count - 1 - i) * MINUTE)}
    />
  );
}

interface ChartProps {
  readonly title: string;
  readonly series: Overview["statistics"]["series"];
  readonly starts: readonly number[];
  readonly period: string;
  readonly unit: string;
}

const Chart = ({ series, ...given }: ChartProps) => (
  <HistoryChart
    {...given}
    series={[
      { name: "enqueued", tone: "in", values: series.enqueued },
      { name: "completed", tone: "out", values: series.completed },
      { name: "failed attempts", tone: "bad", values: series.failed },
    ]}
  />
);
