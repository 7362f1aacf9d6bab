import { useState } from "preact/hooks";
import { clockTime, counted, exact } from "../format.ts";

interface Series {
  readonly name: string;
  /** The class that colours it. */
  readonly tone: "in" | "out" | "bad";
  readonly values: readonly number[];
}

/** Bars as one path, in a box of `width` by `height`. */
function bars(values: readonly number[], most: number, width: number, height: number): string {
  const step = width / values.length;
  return values
    .map((value, i) => {
      if (value === 0) return "";
      const size = Math.max(1, (value / most) * height);
      return `M${(i * step + step * 0.15).toFixed(1)} ${height}v${(-size).toFixed(1)}h${(step * 0.7).toFixed(1)}V${height}z`;
    })
    .join("");
}

function line(values: readonly number[], most: number, width: number, height: number): string {
  const step = width / values.length;
  return values
    .map(
      (value, i) =>
        `${i === 0 ? "M" : "L"}${((i + 0.5) * step).toFixed(1)} ${(height - (value / most) * height).toFixed(1)}`,
    )
    .join("");
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** A small chart of the last hour: what was completed, and in front of it what failed. */
export function Sparkline({
  done,
  failed,
}: {
  readonly done: readonly number[];
  readonly failed: readonly number[];
}) {
  const most = Math.max(1, ...done, ...failed);
  const label = `Last hour: ${counted(sum(done), "task")} completed, ${counted(sum(failed), "failed attempt")}`;
  return (
    <svg class="sparkline" viewBox="0 0 120 24" preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <path class="tone-out" d={bars(done, most, 120, 24)} />
      <path class="tone-bad" d={bars(failed, most, 120, 24)} />
    </svg>
  );
}

interface ChartProps {
  readonly title: string;
  /** The start of each minute, epoch ms. */
  readonly minutes: readonly number[];
  readonly series: readonly Series[];
}

/** Counts by the minute: the second series as bars, the others over it. The numbers are also a table. */
export function MinuteChart({ title, minutes, series }: ChartProps) {
  const [at, setAt] = useState<number | undefined>();
  const width = 720;
  const height = 150;
  const most = Math.max(1, ...series.flatMap(({ values }) => values));
  const shown = at ?? undefined;
  const point = (event: PointerEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    const place = Math.floor(((event.clientX - box.left) / box.width) * minutes.length);
    setAt(Math.min(minutes.length - 1, Math.max(0, place)));
  };
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="legend">
          {series.map(({ name, tone, values }) => (
            <span key={name}>
              <i class={`key tone-${tone}`} />
              {name} {exact(shown === undefined ? sum(values) : (values[shown] ?? 0))}
            </span>
          ))}
          <span class="when">{shown === undefined ? "last hour" : clockTime(minutes[shown] ?? 0)}</span>
        </span>
      </figcaption>
      <div class="plot">
        <span class="most">{exact(most)}</span>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          onPointerMove={point}
          onPointerLeave={() => setAt(undefined)}
        >
          <path class="grid" d={`M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}`} />
          {shown !== undefined && (
            <rect
              class="mark"
              x={(shown * width) / minutes.length}
              y="0"
              width={width / minutes.length}
              height={height}
            />
          )}
          {series.map(({ name, tone, values }) =>
            tone === "in" ? (
              <path key={name} class="line tone-in" d={line(values, most, width, height)} />
            ) : (
              <path key={name} class={`tone-${tone}`} d={bars(values, most, width, height)} />
            ),
          )}
        </svg>
      </div>
      <details>
        <summary>Numbers as a table</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label={title}>
          <table>
            <thead>
              <tr>
                <th scope="col">Minute</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" class="count">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {minutes
                .map((minute, i) => ({ minute, i }))
                .filter(({ i }) => series.some(({ values }) => (values[i] ?? 0) > 0))
                .map(({ minute, i }) => (
                  <tr key={minute}>
                    <th scope="row">{clockTime(minute)}</th>
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
      </details>
    </figure>
  );
}
