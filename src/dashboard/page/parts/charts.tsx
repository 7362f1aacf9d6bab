import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { clockTime, counted, exact } from "../format.ts";
import { bars, cuts, scaleOf, sum } from "./scale.ts";

/** The least part of what was completed that a bar of failed attempts shows in full. */
const FAILED_PART = 1 / 20;

/** A small chart: what was completed, and below it what failed. */
export function Sparkline({
  done,
  failed,
}: {
  readonly done: readonly number[];
  readonly failed: readonly number[];
}) {
  const { top } = scaleOf(done);
  const label = `Last hour: ${counted(sum(done), "task")} completed, ${counted(sum(failed), "failed attempt")}`;
  return (
    <svg class="sparkline" viewBox="0 0 120 26" preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <path class="tone-out" d={bars(done, top, { width: 120, height: 17 })} />
      <g transform="translate(0 18)">
        <path
          class="tone-bad"
          d={bars(failed, Math.max(scaleOf(failed).top, top * FAILED_PART), {
            width: 120,
            height: 8,
            down: true,
          })}
        />
      </g>
    </svg>
  );
}

interface Series {
  readonly name: string;
  /** The class that colours it. */
  readonly tone: "in" | "out" | "bad";
  readonly values: readonly number[];
}

interface ChartProps {
  readonly title: string;
  /** What the title is followed by, such as a choice of the period. */
  readonly children?: ComponentChildren;
  /** The period in words, such as `last hour`. */
  readonly period: string;
  /** How long a bar is, such as `a minute`. */
  readonly unit: string;
  /** The start of each bar, epoch ms. */
  readonly starts: readonly number[];
  readonly series: readonly Series[];
}

/** Counts over time, each series in a strip of its own scale. The numbers are also a table. */
export function HistoryChart({ title, children, period, unit, starts, series }: ChartProps) {
  const [at, setAt] = useState<number | undefined>();
  const shown = at === undefined ? undefined : starts[at];
  const point = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const place = Math.floor(((event.clientX - box.left) / box.width) * starts.length);
    setAt(Math.min(starts.length - 1, Math.max(0, place)));
  };
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        {children}
        <span class="fill" />
        <span>{shown === undefined ? period : clockTime(shown)}</span>
      </figcaption>
      <div class="strips" onPointerLeave={() => setAt(undefined)}>
        {series.map((one) => (
          <Strip key={one.name} series={one} {...{ starts, unit, period, at, point }} />
        ))}
      </div>
      <details>
        <summary>Numbers as a table</summary>
        <Numbers {...{ title, starts, series }} />
      </details>
    </figure>
  );
}

interface StripProps extends Pick<ChartProps, "starts" | "unit" | "period"> {
  readonly series: Series;
  /** The bar at which the viewer points. */
  readonly at: number | undefined;
  readonly point: (event: PointerEvent) => void;
}

function Strip({ series: { name, tone, values }, starts, unit, period, at, point }: StripProps) {
  const box = { width: 720, height: 48 };
  const { top, highest, isCut } = scaleOf(values);
  const when = clockTime(starts[values.indexOf(highest)] ?? 0);
  const peak =
    highest === 0 ? "" : `most ${exact(highest)} at ${when}${isCut ? `, cut at ${exact(top)}` : ""}`;
  return (
    <div class="strip">
      <div class="strip-name">
        <i class={`key tone-${tone}`} />
        {name} <strong>{exact(at === undefined ? sum(values) : (values[at] ?? 0))}</strong>{" "}
        <span class="peak">{peak}</span>
      </div>
      <svg
        viewBox={`0 0 ${box.width} ${box.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name}: ${exact(sum(values))} in the ${period}${peak && `, in ${unit} ${peak}`}`}
        onPointerMove={point}
      >
        <path class="grid" d={`M0 ${box.height}H${box.width}`} />
        {at !== undefined && (
          <rect
            class="mark"
            x={(at * box.width) / values.length}
            y="0"
            width={box.width / values.length}
            height={box.height}
          />
        )}
        <path class={`tone-${tone}`} d={bars(values, top, box)} />
        {isCut && <path class="cut" d={cuts(values, top, box)} />}
      </svg>
      <p class="axis faint" aria-hidden="true">
        <span>{clockTime(starts[0] ?? 0)}</span>
        <span>{clockTime(starts.at(-1) ?? 0)}</span>
      </p>
    </div>
  );
}

function Numbers({ title, starts, series }: Pick<ChartProps, "title" | "starts" | "series">) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={title}>
      <table>
        <thead>
          <tr>
            <th scope="col">From</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" class="count">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {starts
            .map((start, i) => ({ start, i }))
            .filter(({ i }) => series.some(({ values }) => (values[i] ?? 0) > 0))
            .map(({ start, i }) => (
              <tr key={start}>
                <th scope="row">{clockTime(start)}</th>
                {series.map(({ name, values }) => (
                  <td key={name} class="count">
                    {exact(values[i] ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
