import { useEffect, useState } from "preact/hooks";
import { may } from "../access.ts";
import type { Overview } from "../api/types.ts";
import { exact } from "../format.ts";
import { askedOfQueue } from "../palette/entries.ts";
import { useStore } from "../store.ts";
import { EnqueueDialog } from "../tasks/enqueue-dialog.tsx";
import { LimitsDialog } from "./limits-dialog.tsx";
import { PauseDialog } from "./pause-dialog.tsx";

interface QueueActionsProps {
  readonly overview: Overview;
  readonly onChanged: () => void;
}

export function QueueActions({ overview, onChanged }: QueueActionsProps) {
  const { queue, paused, settings } = overview;
  const [asked, setAsked] = useState<"pause" | "resume" | "enqueue" | "limits" | undefined>();
  const elsewhere = useStore(askedOfQueue);
  useEffect(() => {
    if (elsewhere?.queue !== queue) return;
    askedOfQueue.set(undefined);
    setAsked(elsewhere.action === "pause" && paused ? "resume" : elsewhere.action);
  }, [elsewhere]);
  const close = () => setAsked(undefined);
  return (
    <>
      {may("enqueue", queue) && (
        <button type="button" onClick={() => setAsked("enqueue")}>
          Enqueue…
        </button>
      )}
      {may("admin", queue) && (
        <>
          <button type="button" onClick={() => setAsked("limits")}>
            Limits…
          </button>
          <button type="button" onClick={() => setAsked(paused ? "resume" : "pause")}>
            {paused ? "Resume…" : "Pause…"}
          </button>
        </>
      )}
      {(asked === "pause" || asked === "resume") && (
        <TurnQueue {...overview} action={asked} onDone={onChanged} onClose={close} />
      )}
      {asked === "enqueue" && <EnqueueDialog queue={queue} onDone={onChanged} onClose={close} />}
      {asked === "limits" && <LimitsDialog queue={queue} of={settings} onDone={onChanged} onClose={close} />}
    </>
  );
}

interface TurnQueueProps {
  readonly queue: string;
  readonly action: "pause" | "resume";
  /** How many wait, if the screen knows it. */
  readonly pending?: number;
  readonly working?: number;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Pauses or resumes a queue. */
export function TurnQueue({ queue, action, pending, working, onDone, onClose }: TurnQueueProps) {
  const pauses = action === "pause";
  const count = pauses ? working : pending;
  return (
    <PauseDialog queue={queue} paused={!pauses} onDone={onDone} onClose={onClose}>
      {pauses
        ? "Consumers get no more tasks of this queue, and finish those that they have. Producers can still enqueue."
        : "Consumers get tasks of this queue again."}
      {count !== undefined && ` ${pauses ? "Working" : "Pending"} tasks: ${exact(count)}.`}
    </PauseDialog>
  );
}
