import { useEffect, useState } from "preact/hooks";
import { retryableReasons } from "../../../kernel/options/types.ts";
import { redriveStep } from "../api/tasks.ts";
import type { Filter } from "../api/types.ts";
import { counted, exact, span } from "../format.ts";
import { StillFails } from "../health/still-fails.tsx";
import { decimal, hasFault, numberIn, useField } from "../parts/checked-field.ts";
import { Dialog, Failure, messageOf, useShown } from "../parts/dialog.tsx";
import { Field } from "../parts/form-dialog.tsx";
import { announce } from "../parts/notice.tsx";
import { ExpiredWarning } from "./expired-warning.tsx";
import { filterTexts } from "./filters.tsx";

interface RedriveDialogProps {
  readonly queue: string;
  readonly filter: Filter;
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
}

/** Tasks of one request, so that the progress is seen. */
const STEP = 1_000;

type Phase = "counting" | "counted" | "running" | "failed";

/** Redrives dead letters in bulk: first a dry run that changes nothing, then step by step. */
export function RedriveDialog({ queue, filter, onDone, onClose }: RedriveDialogProps) {
  const [phase, setPhase] = useState<Phase>("counting");
  const [found, setFound] = useState(0);
  const [redriven, setRedriven] = useState(0);
  const rate = useField(decimal(0.001, 1_000_000));
  const [error, setError] = useState<string | undefined>();
  const [withFinal, setWithFinal] = useState(false);
  const shown = useShown();
  const wanted = withFinal ? { ...filter, reason: ["rejected", ...retryableReasons] } : filter;

  const fail = (failure: unknown) => {
    setPhase("failed");
    setError(messageOf(failure));
  };

  /** Repeats a step until nothing is left or it is not to go on. */
  const repeat = async (
    changes: { dryRun?: boolean; rate?: number },
    count: (number: number) => void,
    goesOn: () => boolean,
  ) => {
    let cursor: string | null | undefined;
    let total = 0;
    do {
      const step = { ...wanted, ...changes, limit: STEP, ...(typeof cursor === "string" && { cursor }) };
      const reply = await redriveStep(queue, step);
      total += reply.redriven;
      if (goesOn()) count(total);
      cursor = reply.cursor;
    } while (cursor !== null && goesOn());
    return { total, stopped: cursor !== null };
  };

  useEffect(() => {
    let isLatest = true;
    setPhase("counting");
    setFound(0);
    repeat({ dryRun: true }, setFound, () => isLatest).then(
      () => isLatest && setPhase("counted"),
      (failure: unknown) => isLatest && fail(failure),
    );
    return () => {
      isLatest = false;
    };
    // The dialog is of one filter.
  }, [withFinal]);

  const perSecond = numberIn(rate);
  const start = () => {
    setPhase("running");
    const goesOn = () => shown.current;
    repeat(perSecond === undefined ? {} : { rate: perSecond }, setRedriven, goesOn).then(
      ({ total, stopped }) => {
        onDone(`${counted(total, "dead letter")} of ${queue} redriven${stopped ? ", then stopped." : "."}`);
        if (shown.current) onClose();
      },
      (failure: unknown) => (shown.current ? fail(failure) : announce(messageOf(failure))),
    );
  };
  const matching = filterTexts(filter);
  return (
    <Dialog title={`Redrive dead letters of ${queue}?`} onClose={onClose}>
      <p>{matching.length === 0 ? "All dead letters of the queue." : `Only those ${matching.join(", ")}.`}</p>
      <StillFails queue={queue} />
      {filter.reason === "lease_expired" && <ExpiredWarning />}
      {filter.reason === undefined && (
        <label class="switch">
          <input
            type="checkbox"
            checked={withFinal}
            disabled={phase === "running"}
            onChange={() => setWithFinal(!withFinal)}
          />
          Also those that a consumer rejected for good
        </label>
      )}
      <p aria-live="polite" data-testid="dry-run">
        {phase === "counting"
          ? `A dry run has found ${exact(found)} so far…`
          : `A dry run has found ${counted(found, "dead letter")}.`}
      </p>
      <p>
        Each becomes pending again, at the back of the queue, the oldest first, with all its attempts. Tasks
        that become dead letters meanwhile are not redriven.
      </p>
      <Field label="Most tasks a second" hint="all at once" {...rate} />
      {perSecond !== undefined && !hasFault(rate) && found > 0 && (
        <p class="hint">The last one becomes pending after about {span((found / perSecond) * 1_000)}.</p>
      )}
      {phase === "running" && (
        <p>
          <progress aria-label="Redriven" value={redriven} max={Math.max(found, redriven, 1)} />{" "}
          {exact(redriven)} of {exact(found)}
        </p>
      )}
      <Failure error={error} />
      <div class="buttons">
        <button type="button" onClick={onClose}>
          {phase === "running" ? "Stop" : "Back"}
        </button>
        <button
          type="button"
          class="primary"
          disabled={phase !== "counted" || found === 0 || hasFault(rate)}
          onClick={start}
        >
          Redrive {phase === "counting" ? "" : exact(found)}
        </button>
      </div>
    </Dialog>
  );
}
