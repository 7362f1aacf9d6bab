import { useState } from "preact/hooks";
import { health } from "../api/health.ts";
import { OVERVIEW } from "../api/queues.ts";
import type { Health } from "../api/types.ts";
import { counted, exact } from "../format.ts";
import { type Loaded, useLive } from "../live.ts";
import { Heading, Stale, Waiting } from "../parts/layout.tsx";
import { linkTo } from "../router.ts";
import { Findings, sorted, StatusBadge } from "./findings.tsx";

/** How often health is read, ms: it looks at all queues. */
const EVERY = 60_000;

/** Findings that the list of queues shows. */
const SHOWN = 5;

/**
 * What is wrong with one queue, read once a minute.
 * @param acts changes when the viewer has done something
 */
export const useHealthOf = (queue: string, acts: number): Loaded<Health> =>
  useLive((signal) => health(queue, signal), queue, { every: EVERY, round: acts });

/**
 * What is wrong with all queues, read once a minute.
 * @param wanted false reads nothing, as each queue costs commands
 */
export const useHealthOfAll = (wanted: boolean, acts: number): Loaded<Health | undefined> =>
  useLive(async (signal) => (wanted ? health(undefined, signal) : undefined), String(wanted), {
    every: EVERY,
    once: !wanted,
    round: acts,
  });

/** All that is wrong with the queues and the database. */
export function HealthScreen() {
  const [acts, setActs] = useState(0);
  const { value, error, refresh } = useLive((signal) => health(undefined, signal), "", {
    every: EVERY,
    round: acts,
    isFinal: ({ queues }) => queues.length > OVERVIEW,
  });
  if (!value) return <Waiting title="Health" error={error} retry={refresh} />;
  const { status, findings, queues, truncated } = value;
  return (
    <>
      <Heading title="Health">
        <StatusBadge status={status} />
        <span class="fill" />
        <button type="button" onClick={refresh}>
          Check again
        </button>
      </Heading>
      <Stale error={error} />
      <p class="hint" role="status">
        {counted(findings.length, "finding")} in {truncated ? "the first " : ""}
        {counted(queues.length, "queue")}.
      </p>
      <Findings findings={findings} onChanged={() => setActs(acts + 1)} />
      {findings.length === 0 && <p class="empty">Nothing is wrong.</p>}
    </>
  );
}

/** The worst of what is wrong, above the list of queues. */
export function HealthSummary({
  of: { value, error },
  onChanged,
}: {
  readonly of: Loaded<Health | undefined>;
  readonly onChanged: () => void;
}) {
  const findings = value?.findings ?? [];
  const more = findings.length - SHOWN;
  return (
    <section aria-label="Health">
      {error !== undefined && <p class="failure">Health could not be read: {error}</p>}
      <Findings findings={sorted(findings).slice(0, SHOWN)} onChanged={onChanged} />
      {more > 0 && (
        <p>
          <a href={linkTo(["health"])}>All {exact(findings.length)} findings</a>
        </p>
      )}
    </section>
  );
}
