import type { ComponentChildren } from "preact";
import { changeGroup, turn } from "../api/queues.ts";
import { duration, hasFault, useField } from "../parts/checked-field.ts";
import { Field, FormDialog } from "../parts/form-dialog.tsx";
import { announce } from "../parts/notice.tsx";

const time = duration(1);

interface PauseDialogProps {
  readonly queue: string;
  /** The group, if it is one of the queue. */
  readonly group?: string;
  readonly paused: boolean;
  /** What will happen. */
  readonly children: ComponentChildren;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Pauses a queue or a group, for a time or until it is resumed; or resumes one that is paused. */
export function PauseDialog({ queue, group, paused, children, onDone, onClose }: PauseDialogProps) {
  const length = useField(time);
  const { given } = length;
  const action = paused ? "resume" : "pause";
  const verb = paused ? "Resume" : "Pause";
  const run = async () => {
    if (group === undefined) await turn(queue, action, given);
    else await changeGroup(queue, group, { paused: given === "" ? !paused : { for: given as "1m" } });
    const name = group === undefined ? queue : `The group ${group}`;
    announce(`${name} is ${action}d${given && ` for ${given}`}.`);
    onDone();
  };
  return (
    <FormDialog
      title={`${verb} ${group === undefined ? queue : `the group ${group}`}?`}
      action={verb}
      invalid={hasFault(length)}
      run={run}
      onClose={onClose}
    >
      <p>{children}</p>
      {!paused && <Field label="For" hint="until it is resumed" {...length} />}
    </FormDialog>
  );
}
