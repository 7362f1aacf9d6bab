import { useState } from "preact/hooks";
import { cancelMany, redriveMany, removeMany } from "../api/tasks.ts";
import type { ListedTask, State } from "../api/types.ts";
import { counted, exact, wordsOf } from "../format.ts";
import { StillFails } from "../health/still-fails.tsx";
import { Confirm, useShown } from "../parts/dialog.tsx";
import { ExpiredWarning } from "./expired-warning.tsx";

export type BulkAction = "redrive" | "cancel" | "remove";

interface ChosenDialogProps {
  readonly queue: string;
  readonly state: State;
  readonly action: BulkAction;
  readonly chosen: readonly ListedTask[];
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
}

/** Tasks of one request. */
const STEP = 500;

/** Ids that the dialog names. */
const NAMED = 5;

/** What is done with tasks. */
export const verbs = {
  redrive: { name: "Redrive", done: "redriven" },
  cancel: { name: "Cancel", done: "cancelled" },
  remove: { name: "Remove", done: "removed" },
} as const;

/** Why a task was not changed. */
const textOf = (code: string) => (code === "lease_lost" ? "changed meanwhile" : wordsOf(code));

/** How many were done, and how often each code was why one was not. */
interface Outcome {
  readonly done: number;
  readonly refused: readonly string[];
}

/** Does something with the tasks that the viewer has ticked. */
export function ChosenDialog({ queue, state, action, chosen, onDone, onClose }: ChosenDialogProps) {
  const [progress, setProgress] = useState(0);
  const shown = useShown();
  const { name, done } = verbs[action];
  const run = async () => {
    let total = 0;
    const refused: string[] = [];
    for (let first = 0; first < chosen.length && shown.current; first += STEP) {
      const outcome = await act(queue, action, chosen.slice(first, first + STEP));
      total += outcome.done;
      refused.push(...outcome.refused);
      setProgress(first + STEP);
    }
    const codes = [...new Set(refused)].map(textOf).join(", ");
    const others = refused.length === 0 ? "" : ` ${exact(refused.length)} not: ${codes}.`;
    onDone(`${counted(total, "task")} of ${queue} ${done}.${others}`);
  };
  return (
    <Confirm
      title={`${name} ${counted(chosen.length, "task")} of ${queue}?`}
      action={action === "cancel" ? "Cancel the tasks" : name}
      danger={action !== "redrive"}
      stops
      run={run}
      onClose={onClose}
    >
      <p class="ids">
        {chosen.slice(0, NAMED).map(({ id }) => (
          <span key={id}>{id}</span>
        ))}
        {chosen.length > NAMED && <span>and {counted(chosen.length - NAMED, "more", "more")}</span>}
      </p>
      {action === "redrive" && <StillFails queue={queue} />}
      {action === "redrive" && chosen.every(({ reason }) => reason === "lease_expired") && <ExpiredWarning />}
      <p>{effectOf(action, state)} Tasks that have changed since they were ticked stay as they are.</p>
      {progress > 0 && progress < chosen.length && <p role="status">{exact(progress)} so far.</p>}
    </Confirm>
  );
}

function effectOf(action: BulkAction, state: State): string {
  if (action === "redrive") return "They become pending again, and may use all their attempts again.";
  if (action === "remove") return "Their records are deleted for good, with payloads, results and errors.";
  const first =
    state === "working"
      ? "Their consumers are asked to stop; if a consumer is dead, the task is cancelled when its lease ends. A task that is completed all the same stays completed."
      : "No consumer gets them.";
  return `${first} The payload and errors of a cancelled task are deleted, and it cannot be redriven.`;
}

async function act(queue: string, action: BulkAction, chosen: readonly ListedTask[]): Promise<Outcome> {
  const ids = chosen.map(({ id, lease }) => ({ id, lease }));
  if (action === "redrive") {
    const { redriven, refused } = await redriveMany(queue, ids);
    return { done: redriven, refused: refused.map(({ code }) => code) };
  }
  const { results } = await (action === "cancel"
    ? cancelMany(queue, ids)
    : removeMany(
        queue,
        ids.map(({ id }) => id),
      ));
  const refused = results.flatMap((result) => (result.ok ? [] : [result.code]));
  return { done: results.length - refused.length, refused };
}
