import { useEffect, useRef, useState } from "preact/hooks";
import { health } from "../api/health.ts";
import { OVERVIEW } from "../api/queues.ts";
import type { Health } from "../api/types.ts";
import { counted } from "../format.ts";
import { type Loaded, useLive } from "../live.ts";
import { Heading, Stale, Waiting } from "../parts/layout.tsx";
import { Findings, StatusBadge } from "./findings.tsx";
import { isWrong } from "./lines.ts";

/** How often health is read, ms: it looks at all queues. */
const EVERY = 60_000;

/** The shortest time between two reads of a queue whose state changes, ms. */
const SOONEST = 20_000;

/** Lines of findings above the list of queues. */
const SHOWN = 12;

/**
 * What is wrong with one queue, read once a minute, and sooner if its state is no longer that of the findings. It is not
 * said that no consumer works while tasks are working.
 * @param acts changes when the viewer has done something
 * @param state of the queue, as far as findings follow from it; undefined if it is not known yet
 * @param working how many tasks are
 */
export function useHealthOf(
  queue: string,
  acts: number,
  state: string | undefined,
  working: number,
): Health | undefined {
  const [turns, setTurns] = useState(0);
  const read = useRef<{ at: number; state: string | undefined }>({ at: 0, state: undefined });
  const load = (signal: AbortSignal) => {
    read.current = { at: Date.now(), state };
    return health(queue, signal);
  };
  const found = useLive(load, queue, { every: EVERY, round: acts + turns });
  const hasFinding = found.value?.findings.some((one) => one.queue === queue) ?? false;
  useEffect(() => {
    const { current: last } = read;
    last.state ??= state;
    if (!hasFinding || last.state === state) return undefined;
    const timer = setTimeout(
      () => setTurns((before) => before + 1),
      Math.max(0, last.at + SOONEST - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [hasFinding, state, found.value]);
  const { value } = found;
  return (
    value && {
      ...value,
      findings: value.findings.filter(({ code }) => code !== "no_consumer" || working === 0),
    }
  );
}

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
  const { status, queues, truncated } = value;
  const wrong = value.findings.filter(isWrong).length;
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
        {counted(wrong, "finding")} in {truncated ? "the first " : ""}
        {counted(queues.length, "queue")}.
      </p>
      {wrong === 0 && <p class="empty">Nothing is wrong.</p>}
      <Findings of={value} onChanged={() => setActs(acts + 1)} />
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
  return (
    <section aria-label="Health">
      {error !== undefined && <p class="failure">Health could not be read: {error}</p>}
      <Findings of={value} most={SHOWN} onChanged={onChanged} />
    </section>
  );
}
