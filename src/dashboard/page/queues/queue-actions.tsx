import { useEffect, useState } from "preact/hooks";
import { may } from "../access.ts";
import { pause, resume } from "../api/queues.ts";
import type { Overview } from "../api/types.ts";
import { exact } from "../format.ts";
import { askedOfQueue } from "../palette/entries.ts";
import { Confirm } from "../parts/dialog.tsx";
import { announce } from "../parts/notice.tsx";
import { useStore } from "../store.ts";
import { EnqueueDialog } from "../tasks/enqueue-dialog.tsx";
import { LimitsDialog } from "./limits-dialog.tsx";

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
      {asked === "pause" && <PauseDialog {...overview} onDone={onChanged} onClose={close} />}
      {asked === "resume" && <ResumeDialog {...overview} onDone={onChanged} onClose={close} />}
      {asked === "enqueue" && <EnqueueDialog queue={queue} onDone={onChanged} onClose={close} />}
      {asked === "limits" && <LimitsDialog queue={queue} of={settings} onDone={onChanged} onClose={close} />}
    </>
  );
}

interface TurnDialogProps {
  readonly queue: string;
  /** How many wait, if the screen knows it. */
  readonly pending?: number;
  readonly working?: number;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function PauseDialog({ queue, working, onDone, onClose }: TurnDialogProps) {
  const run = async () => {
    await pause(queue);
    announce(`${queue} is paused.`);
    onDone();
  };
  return (
    <Confirm title={`Pause ${queue}?`} action="Pause" run={run} onClose={onClose}>
      <p>
        Consumers get no more tasks of this queue, and finish those that they have. Producers can still
        enqueue.{working !== undefined && ` Working tasks: ${exact(working)}.`}
      </p>
    </Confirm>
  );
}

export function ResumeDialog({ queue, pending, onDone, onClose }: TurnDialogProps) {
  const run = async () => {
    await resume(queue);
    announce(`${queue} is resumed.`);
    onDone();
  };
  return (
    <Confirm title={`Resume ${queue}?`} action="Resume" run={run} onClose={onClose}>
      <p>
        Consumers get tasks of this queue again.
        {pending !== undefined && ` Pending tasks: ${exact(pending)}.`}
      </p>
    </Confirm>
  );
}
