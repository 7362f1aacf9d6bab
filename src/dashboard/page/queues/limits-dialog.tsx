import { useState } from "preact/hooks";
import { changeGroup, changeSettings } from "../api/queues.ts";
import type { Group, Settings } from "../api/types.ts";
import { durationText } from "../format.ts";
import { Field, FormDialog } from "../parts/form-dialog.tsx";
import { announce } from "../parts/notice.tsx";

interface LimitsDialogProps {
  readonly queue: string;
  /** The settings of the queue, or a group of it. */
  readonly of: Settings | Group;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Changes the limits of a queue, or the share and the limits of a group. */
export function LimitsDialog({ queue, of, onDone, onClose }: LimitsDialogProps) {
  const isGroup = "group" in of;
  const name = isGroup ? of.group : queue;
  const [weight, setWeight] = useState(isGroup ? String(of.weight) : "");
  const [maxWorking, setMaxWorking] = useState(textOf(of.maxWorking));
  const [most, setMost] = useState(textOf(of.rate?.most));
  const [per, setPer] = useState(of.rate === null ? "" : durationText(of.rate.per));
  const [maxPending, setMaxPending] = useState(isGroup ? "" : textOf(of.maxPending));
  const run = async () => {
    const rate = most.trim() === "" ? null : { most: Number(most), per: per.trim() as "1m" };
    const limits = { maxWorking: numberOf(maxWorking), rate };
    if (isGroup) await changeGroup(queue, of.group, { ...limits, weight: numberOf(weight) });
    else await changeSettings(queue, { ...limits, maxPending: numberOf(maxPending) });
    announce(`The limits of ${name} were changed.`);
    onDone();
  };
  return (
    <FormDialog title={`Limits of ${name}`} action="Change" run={run} onClose={onClose}>
      <p class="hint">They hold from the next dequeue on. An empty field is no limit.</p>
      <div class="row">
        {isGroup && <Field label="Weight, 1 to 100" value={weight} set={setWeight} hint="1" />}
        <Field label="Most working tasks" value={maxWorking} set={setMaxWorking} hint="no limit" />
        {!isGroup && (
          <Field label="Most pending tasks" value={maxPending} set={setMaxPending} hint="no limit" />
        )}
      </div>
      <div class="row">
        <Field label="Rate: most tasks" value={most} set={setMost} hint="no limit" />
        <Field label="in each" value={per} set={setPer} hint="such as 1s or 1m" />
      </div>
    </FormDialog>
  );
}

const textOf = (limit: number | null | undefined) => String(limit ?? "");

const numberOf = (text: string) => (text.trim() === "" ? null : Number(text));
