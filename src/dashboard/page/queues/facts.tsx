import type { Overview, Settings } from "../api/types.ts";
import { exact, rate, span } from "../format.ts";

/** The limits of a queue or a group in words; empty without any. */
export function limitTexts({
  maxWorking,
  rate,
  maxPending = null,
}: Pick<Settings, "maxWorking" | "rate"> & { readonly maxPending?: number | null }): string[] {
  return [
    ...(maxWorking === null ? [] : [`at most ${exact(maxWorking)} working`]),
    ...(rate === null ? [] : [`at most ${exact(rate.most)} in ${span(rate.per)}`]),
    ...(maxPending === null ? [] : [`at most ${exact(maxPending)} pending`]),
  ];
}

export function QueueBadges({ queue: { paused, broken, settings } }: { readonly queue: Overview }) {
  const limits = limitTexts(settings);
  return (
    <>
      {paused && <span class="badge state-delayed">paused</span>}
      {broken > 0 && <span class="badge state-rejected">{exact(broken)} broken</span>}
      {limits.length > 0 && (
        <span class="badge" title={limits.join(", ")}>
          {limits.length === 1 ? limits[0] : `${limits.length} limits`}
        </span>
      )}
    </>
  );
}

/**
 * Completed tasks a minute, the mean of the last five full minutes. A dash if the queue has counted nothing before
 * the minute that is not over yet.
 */
export function doneRate({ perMinute, series }: Overview["statistics"]): string {
  const all = Object.values(series);
  const isNew =
    all.some((counts) => (counts.at(-1) ?? 0) > 0) &&
    all.every((counts) => counts.slice(0, -1).every((count) => count === 0));
  return isNew ? "–" : rate(perMinute.completed);
}

/** One number with its name. */
export function Tile({
  name,
  value,
  tone,
}: {
  readonly name: string;
  readonly value: string;
  readonly tone?: string | undefined;
}) {
  return (
    <div class={`tile ${tone ?? ""}`}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** The bound below which this share of the counted durations was; undefined without any. */
export function percentile(
  classes: readonly number[],
  bounds: readonly number[],
  share: number,
): number | undefined {
  const count = classes.reduce((sum, one) => sum + one, 0);
  if (count === 0) return undefined;
  let seen = 0;
  const found = classes.findIndex((one) => (seen += one) >= share * count);
  return bounds[found] ?? Number.POSITIVE_INFINITY;
}
