import { useState } from "preact/hooks";
import { purgeStep } from "../api/tasks.ts";
import type { Filter, State } from "../api/types.ts";
import { counted, exact } from "../format.ts";
import { stateNames } from "../parts/badges.tsx";
import { Confirm, useShown } from "../parts/dialog.tsx";
import { filterTexts } from "./filters.tsx";

interface PurgeDialogProps {
  readonly queue: string;
  readonly state: Exclude<State, "working">;
  readonly filter: Filter;
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
}

const STEP = 1_000;

const NEVER_TAKEN = "No consumer gets them. Their payloads are deleted, and they cannot be redriven.";

const effects: Readonly<Record<PurgeDialogProps["state"], string>> = {
  pending: NEVER_TAKEN,
  delayed: NEVER_TAKEN,
  blocked: NEVER_TAKEN,
  completed: "Their records are deleted, with their results.",
  rejected: "They are deleted for good, with their payloads, and cannot be redriven.",
};

const NEEDS_GROUP =
  "Pending tasks can be purged by a filter only within a group: filter by a group too, or purge all.";

export function PurgeDialog({ queue, state, filter, onDone, onClose }: PurgeDialogProps) {
  const [purged, setPurged] = useState(0);
  const shown = useShown();
  const run = async () => {
    let cursor: string | null | undefined;
    let total = 0;
    do {
      const step = { ...filter, state, limit: STEP, ...(typeof cursor === "string" && { cursor }) };
      const reply = await purgeStep(queue, step);
      total += reply.purged;
      setPurged(total);
      cursor = reply.cursor;
    } while (cursor !== null && shown.current);
    onDone(`${counted(total, "task")} of ${queue} purged${cursor === null ? "." : ", then stopped."}`);
  };
  const matching = filterTexts(filter);
  const needsGroup = state === "pending" && matching.length > 0 && filter.group === undefined;
  return (
    <Confirm
      title={`Purge ${stateNames[state]} tasks of ${queue}?`}
      action="Purge"
      danger
      stops
      refused={needsGroup ? NEEDS_GROUP : undefined}
      run={run}
      onClose={onClose}
    >
      <p>
        {matching.length === 0
          ? `All ${stateNames[state]} tasks of the queue.`
          : `Only those ${matching.join(", ")}.`}
      </p>
      <p>{effects[state]}</p>
      {purged > 0 && <p role="status">{exact(purged)} purged so far.</p>}
    </Confirm>
  );
}
