import { useRef, useState } from "preact/hooks";
import { RequestError } from "../api/request.ts";
import { enqueue, type NewTask } from "../api/tasks.ts";
import type { Task } from "../api/types.ts";
import { duration, hasFault, numberIn, useField, wholeNumber } from "../parts/checked-field.ts";
import { useShown } from "../parts/dialog.tsx";
import { Field, FormDialog, JsonField, jsonFault } from "../parts/form-dialog.tsx";
import { announceEnqueued } from "./enqueued.tsx";

interface EnqueueDialogProps {
  readonly queue: string;
  /** The task to enqueue again. */
  readonly like?: Task | undefined;
  /** Is not called if the dialog was closed meanwhile. */
  readonly onDone: (id: string) => void;
  readonly onClose: () => void;
}

/** Enqueues a task: a new one, or another one again with changes. */
export function EnqueueDialog({ queue, like, onDone, onClose }: EnqueueDialogProps) {
  const isBytes = like?.payloadEncoding === "base64";
  const [payload, setPayload] = useState(() =>
    like === undefined ? "{}" : isBytes ? String(like.payload) : JSON.stringify(like.payload, null, 2),
  );
  const [group, setGroup] = useState(like?.group ?? "");
  const priority = useField(wholeNumber(0, 9), like?.priority);
  const delay = useField(duration());
  const shown = useShown();
  // A second try after a lost answer must not enqueue a second task.
  const key = useRef(crypto.randomUUID());
  const run = async () => {
    const task: NewTask = {
      payload: isBytes ? payload : JSON.parse(payload),
      ...(isBytes && { encoding: "base64" as const }),
      ...(group.trim() !== "" && { group: group.trim() }),
      priority: numberIn(priority),
      ...(delay.given !== "" && { delay: delay.given }),
      ...(like?.headers && { headers: like.headers }),
    };
    const { id } = await enqueue(queue, task, key.current).catch((error: unknown) => {
      if (!(error instanceof RequestError && error.code === "idempotency_key_reused")) throw error;
      key.current = crypto.randomUUID();
      throw new Error(
        "The first try did enqueue a task, with the earlier values. To also enqueue this one, press Enqueue again.",
      );
    });
    announceEnqueued(queue, id);
    if (shown.current) onDone(id);
  };
  return (
    <FormDialog
      title={like === undefined ? `Enqueue a task in ${queue}` : `Enqueue ${like.id} again`}
      action="Enqueue"
      invalid={hasFault(priority, delay) || (!isBytes && jsonFault(payload) !== undefined)}
      run={run}
      onClose={onClose}
    >
      {like !== undefined && (
        <p>
          A new task with its own id, and with the payload, group, priority and headers of the old one. Other
          options are not copied.
        </p>
      )}
      <JsonField label="Payload" value={payload} set={setPayload} isBytes={isBytes} />
      <div class="row">
        <Field label="Group" value={group} set={setGroup} hint="none" />
        <Field label="Priority" hint="0 to 9" {...priority} />
        <Field label="Delay" hint="such as 30s or 5m" {...delay} />
      </div>
    </FormDialog>
  );
}
