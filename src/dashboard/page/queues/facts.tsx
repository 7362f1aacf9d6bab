import { p95 } from "../../../operate/percentiles.ts";
import { durationBounds } from "../../../operate/statistics.ts";
import type { Overview, Settings } from "../api/types.ts";
import { exact, number, rate, span } from "../format.ts";
import { PausedBadge } from "../parts/badges.tsx";

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
      {paused && <PausedBadge until={settings.pausedUntil} />}
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

/** Whether the next task waits for so long that something may be wrong: as long as findings allow by default. */
export const isOld = (oldestAge: number | null) => (oldestAge ?? 0) > 600_000;

/** What there is to know of a queue at once. */
export function Facts({ overview }: { readonly overview: Overview }) {
  const { pending, delayed, blocked, working, rejected, oldestAge, workers, statistics, settings } = overview;
  const { on, waitP95, runs } = statistics;
  const limits = limitTexts(settings);
  return (
    <dl class="tiles">
      <Tile name="pending" value={number(pending)} />
      <Tile name="delayed" value={number(delayed)} />
      {blocked > 0 && <Tile name="blocked" value={number(blocked)} />}
      <Tile name="working" value={number(working)} />
      <Tile name="dead" value={number(rejected)} tone={rejected > 0 ? "tone-bad" : undefined} />
      <Tile
        name="next task waits for"
        value={oldestAge === null ? "–" : span(oldestAge)}
        tone={isOld(oldestAge) ? "tone-bad" : undefined}
      />
      <Tile name="workers" value={exact(workers)} />
      {on && <Tile name="done a minute (5 min)" value={doneRate(statistics)} />}
      {on && <Tile name="95% start within" value={atMost(waitP95)} />}
      {on && <Tile name="95% run within" value={atMost(p95(runs))} />}
      {limits.length > 0 && <Tile name="limits" value={limits.join(", ")} />}
    </dl>
  );
}

/** The last bound of what is counted: a longer time is not known. */
const LONGEST = durationBounds.at(-1) ?? 0;

const atMost = (ms: number | null) => (ms === null ? "–" : ms > LONGEST ? `over ${span(LONGEST)}` : span(ms));
