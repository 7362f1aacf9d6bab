import { group as read } from "../api/queues.ts";
import { counted } from "../format.ts";
import { useRead } from "../parts/dialog.tsx";
import { LimitsDialog } from "./limits-dialog.tsx";
import { PauseDialog } from "./pause-dialog.tsx";

export interface GroupAction {
  readonly action: "pause" | "limits";
  readonly group: string;
}

interface GroupDialogProps extends GroupAction {
  readonly queue: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Pauses or resumes a group, or changes its limits, once it was read: any group, with or without tasks. */
export function GroupDialog({ queue, action, group, onDone, onClose }: GroupDialogProps) {
  const found = useRead(() => read(queue, group), onClose);
  if (!found) return null;
  if (action === "limits") return <LimitsDialog queue={queue} of={found} onDone={onDone} onClose={onClose} />;
  const { paused, ready, limited } = found;
  return (
    <PauseDialog queue={queue} group={group} paused={paused} onDone={onDone} onClose={onClose}>
      {paused
        ? `Consumers get tasks of the group again. Waiting: ${counted(limited, "task")}.`
        : `Consumers get no more tasks of the group, others are not delayed. Waiting: ${counted(ready + limited, "task")}. Those that are working go on.`}
    </PauseDialog>
  );
}
