import { useState } from "preact/hooks";
import { putSchedule, schedule } from "../api/schedules.ts";
import type { NewSchedule, Schedule } from "../api/types.ts";
import { durationText } from "../format.ts";
import { duration, hasFault, numberIn, useField, wholeNumber } from "../parts/checked-field.ts";
import { Confirm, useRead } from "../parts/dialog.tsx";
import { Field, FormDialog, JsonField, jsonFault } from "../parts/form-dialog.tsx";
import { Select } from "../parts/select.tsx";
import { announce } from "../parts/notice.tsx";

interface ScheduleDialogProps {
  readonly queue: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Changes a schedule, once it was read. */
export function ScheduleDialog({ name, ...props }: ScheduleDialogProps & { readonly name: string }) {
  const { queue, onClose } = props;
  const found = useRead(() => schedule(queue, name), onClose);
  if (!found) return null;
  if (!found.payloadsHidden) return <ScheduleForm before={found} {...props} />;
  return (
    <Confirm
      title={`Edit ${name}`}
      action="Change"
      refused="Your token hides payloads. A change replaces the whole schedule, and would lose its payload."
      run={() => Promise.resolve()}
      onClose={onClose}
    >
      {null}
    </Confirm>
  );
}

/** What a change keeps of a schedule. */
const KEPT = ["until", "paused", "encoding", "resultTtl", "deadTtl", "headers"] as const;

interface ScheduleFormProps extends ScheduleDialogProps {
  readonly before?: Schedule;
}

/** Changes a schedule, or makes a new one. */
export function ScheduleForm({ queue, before, onDone, onClose }: ScheduleFormProps) {
  const isBytes = before?.encoding === "base64";
  const [name, setName] = useState(before?.name ?? "");
  const every = useField(duration(1_000), durationOf(before?.every));
  const [cron, setCron] = useState(before?.cron ?? "");
  const [zone, setZone] = useState(before?.timeZone ?? "");
  const [missed, setMissed] = useState<string>(before?.missed ?? "last");
  const [group, setGroup] = useState(before?.group ?? "");
  const priority = useField(wholeNumber(0, 9), before?.priority);
  const lease = useField(duration(1), durationOf(before?.lease));
  const attempts = useField(wholeNumber(0, 1_000_000), before?.maxAttempts);
  const [payload, setPayload] = useState(() =>
    before === undefined ? "{}" : isBytes ? String(before.payload) : JSON.stringify(before.payload, null, 2),
  );
  const run = async () => {
    const kept = Object.fromEntries(KEPT.map((field) => [field, before?.[field]]));
    const wanted: Readonly<Record<string, unknown>> = {
      ...kept,
      // The start of intervals.
      from: cron.trim() === "" ? before?.from : undefined,
      cron: given(cron),
      timeZone: given(zone),
      every: given(every.value),
      missed,
      group: given(group),
      priority: numberIn(priority),
      lease: given(lease.value),
      maxAttempts: numberIn(attempts),
      payload: isBytes ? payload : JSON.parse(payload),
    };
    await putSchedule(queue, name.trim(), wanted as object as NewSchedule);
    announce(`${name} was ${before === undefined ? "added" : "changed"}.`);
    onDone();
  };
  return (
    <FormDialog
      title={before === undefined ? `A new schedule of ${queue}` : `Edit ${before.name}`}
      action={before === undefined ? "Add" : "Change"}
      invalid={
        name.trim() === "" ||
        hasFault(every, priority, lease, attempts) ||
        (!isBytes && jsonFault(payload) !== undefined)
      }
      run={run}
      onClose={onClose}
    >
      {before === undefined ? (
        <Field label="Name" value={name} set={setName} />
      ) : (
        <p class="hint">
          If the deployment declares this schedule, change it there too: its next deploy applies what is
          declared.
        </p>
      )}
      <div class="row">
        <Field label="Cron expression" value={cron} set={setCron} hint="such as 0 9 * * 1" />
        <Field label="Time zone" value={zone} set={setZone} hint="UTC" />
        <Field label="or every" hint="such as 15m" {...every} />
      </div>
      <div class="row">
        <Select
          label="Missed occurrences"
          value={missed}
          set={setMissed}
          options={{ last: "enqueues the last", all: "enqueues all" }}
        />
        <Field label="Group" value={group} set={setGroup} hint="none" />
        <Field label="Priority" hint="0 to 9" {...priority} />
      </div>
      <div class="row">
        <Field label="Lease" hint="of the consumer" {...lease} />
        <Field label="Most attempts" hint="10" {...attempts} />
      </div>
      <JsonField label="Payload" value={payload} set={setPayload} isBytes={isBytes} />
    </FormDialog>
  );
}

const durationOf = (ms: number | undefined) => (ms === undefined ? "" : durationText(ms));

const given = (text: string) => (text.trim() === "" ? undefined : text.trim());
