import { useRef, useState } from "preact/hooks";
import { enqueue, type NewTask } from "../api/queues.ts";
import { RequestError } from "../api/request.ts";
import type { Task } from "../api/types.ts";
import { Dialog, Failure, useAction, useShown } from "../parts/dialog.tsx";
import { announce } from "../parts/notice.tsx";

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
  const [priority, setPriority] = useState(String(like?.priority ?? ""));
  const [delay, setDelay] = useState("");
  const shown = useShown();
  // A second try after a lost answer must not enqueue a second task.
  const key = useRef(crypto.randomUUID());
  const invalid = isBytes ? undefined : jsonFault(payload);
  const run = async () => {
    const task: NewTask = {
      payload: isBytes ? payload : JSON.parse(payload),
      ...(isBytes && { encoding: "base64" as const }),
      ...(group.trim() !== "" && { group: group.trim() }),
      ...(priority.trim() !== "" && { priority: Number(priority) }),
      ...(delay.trim() !== "" && { delay: delay.trim() }),
      ...(like?.headers && { headers: like.headers }),
    };
    const { id } = await enqueue(queue, task, key.current).catch((error: unknown) => {
      if (!(error instanceof RequestError && error.code === "idempotency_key_reused")) throw error;
      key.current = crypto.randomUUID();
      throw new Error(
        "The first try did enqueue a task, with the earlier values. To also enqueue this one, press Enqueue again.",
      );
    });
    announce(`Enqueued as ${id}.`);
    if (shown.current) onDone(id);
  };
  const { busy, error, start } = useAction(run, onClose);
  const field = (name: string, value: string, set: (text: string) => void, placeholder: string) => (
    <label>
      {name}
      <input value={value} placeholder={placeholder} onInput={(event) => set(event.currentTarget.value)} />
    </label>
  );
  return (
    <Dialog
      title={like === undefined ? `Enqueue a task in ${queue}` : `Enqueue ${like.id} again`}
      onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (invalid === undefined) start();
        }}
      >
        {like !== undefined && (
          <p>
            A new task with its own id. The old one does not change. Its payload, group, priority and headers
            are copied. Its other options, such as its lease and most attempts, are not.
          </p>
        )}
        <label>
          {isBytes ? "Payload, bytes in base64" : "Payload, JSON"}
          <textarea
            rows={8}
            spellcheck={false}
            value={payload}
            aria-invalid={invalid !== undefined}
            onInput={(event) => setPayload(event.currentTarget.value)}
          />
        </label>
        <p class="failure" role="alert" hidden={invalid === undefined}>
          {invalid}
        </p>
        <div class="row">
          {field("Group", group, setGroup, "none")}
          {field("Priority", priority, setPriority, "0 to 9")}
          {field("Delay", delay, setDelay, "such as 30s or 5m")}
        </div>
        <Failure error={error} />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Back
          </button>
          <button type="submit" class="primary" disabled={busy || invalid !== undefined}>
            {busy ? "Working…" : "Enqueue"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `The payload is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}
