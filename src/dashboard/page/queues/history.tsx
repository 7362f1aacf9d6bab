import { may } from "../access.ts";
import { changeSettings, history } from "../api/queues.ts";
import type { Overview } from "../api/types.ts";
import { useLive } from "../live.ts";
import { HistoryChart } from "../parts/charts.tsx";
import { Failure, useAction } from "../parts/dialog.tsx";
import { Stale, Waiting } from "../parts/layout.tsx";
import { Switch } from "../parts/switch.tsx";
import { keptFlag, useStore } from "../store.ts";

/** Whether charts show 24 hours, not one. */
const isDay = keptFlag("day", false);

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
  const day = useStore(isDay);
  const turnOn = useAction(() => changeSettings(queue, { statistics: true }), onChanged);
  if (!statistics.on) {
    return (
      <div class="note">
        <p>
          Without statistics there are no rates and no chart. They cost one more command for each enqueue of a
          single task, and at most one a minute.
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
  if (day) return <Day queue={queue} />;
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

function Day({ queue }: { readonly queue: string }) {
  const { value, error, refresh } = useLive((signal) => history(queue, signal), queue, { every: 5 * MINUTE });
  if (!value) return <Waiting error={error} retry={refresh} />;
  const { startsAt, every, series } = value;
  return (
    <>
      <Stale error={error} />
      <Chart
        {...{ series, title: "Tasks in 5 minutes", period: "last 24 hours", unit: "5 minutes" }}
        starts={series.completed.map((_, i) => startsAt + i * every)}
      />
    </>
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
  >
    <Switch label="Period" of={isDay} off="Hour" on="24 hours" />
  </HistoryChart>
);
