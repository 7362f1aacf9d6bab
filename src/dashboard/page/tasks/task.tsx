import { useRef, useState } from "preact/hooks";
import { ENVELOPE_BASE64 } from "../../../kernel/record/envelope.ts";
import { flowOfTask } from "../../../kernel/linked/flow-of-task.ts";
import { requestedCancel } from "../../../operate/requested-cancel.ts";
import { may } from "../access.ts";
import { RequestError } from "../api/request.ts";
import { cancel, redriveMany, remove, task as read } from "../api/tasks.ts";
import type { Task } from "../api/types.ts";
import { serverTime } from "../clock.ts";
import { counted, exact, instant, span, wordsOf } from "../format.ts";
import { useLive } from "../live.ts";
import { WaitsFor } from "../more.tsx";
import { StateBadge, When } from "../parts/badges.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Heading, Stale, Waiting } from "../parts/layout.tsx";
import { announce } from "../parts/notice.tsx";
import { flowLink, goTo, linkTo, queueLink, taskLink } from "../router.ts";
import { useStore } from "../store.ts";
import { EnqueueDialog } from "./enqueue-dialog.tsx";
import { ExpiredWarning } from "./expired-warning.tsx";
import { hasEnded } from "./filters.tsx";
import { Timeline } from "./timeline.tsx";
import { isHidden, Value } from "./value.tsx";

interface TaskScreenProps {
  readonly queue: string;
  readonly id: string;
}

export function TaskScreen({ queue, id }: TaskScreenProps) {
  const hidden = useStore(isHidden);
  const load = useTask(queue, id, hidden);
  const found = useLive(load, `${queue}/${id}/${hidden}`, { isFinal: ({ state }) => hasEnded(state) });
  const { value: task, error, refresh } = found;
  if (!task) {
    return (
      <Waiting title={id} error={error} retry={refresh}>
        <a href={linkTo(["search"], { text: id })}>Search all queues for it</a>
      </Waiting>
    );
  }
  const flow = flowOfTask(id);
  const cancelText = requestedCancel(task, serverTime());
  return (
    <>
      <Heading title={task.id}>
        <StateBadge state={task.state} reason={task.reason} />
        <span class="fill" />
        <TaskActions task={task} onChanged={refresh} />
      </Heading>
      <Stale error={error} />
      <div class="columns">
        <div>
          <Carried task={task} hidden={hidden} />
        </div>
        <div>
          {cancelText !== undefined && (
            <p class="hint" role="status">
              Cancel {cancelText}.
            </p>
          )}
          {task.state === "blocked" && flow !== undefined && <WaitsFor flow={flow} id={id} />}
          <Timeline task={task} />
          <Facts task={task} />
        </div>
      </div>
    </>
  );
}

/** Reads a task, and its payload when it is opened and when it has ended: a payload may be large and never changes. */
function useTask(queue: string, id: string, hidden: boolean) {
  const known = useRef<Task>();
  return async (signal: AbortSignal): Promise<Task> => {
    const before = hidden || (known.current && hasEnded(known.current.state)) ? undefined : known.current;
    let task = await read(queue, id, !hidden && before === undefined, signal);
    if (before !== undefined) {
      // Otherwise its id was enqueued again.
      const isSame = task.enqueuedAt === before.enqueuedAt && !hasEnded(task.state);
      const { payload, payloadEncoding } = before;
      if (!isSame) task = await read(queue, id, true, signal);
      else if (payload !== undefined)
        task = { ...task, payload, ...(payloadEncoding && { payloadEncoding }) };
    }
    known.current = hidden ? undefined : task;
    return task;
  };
}

function Carried({ task, hidden }: { readonly task: Task; readonly hidden: boolean }) {
  const { payload, payloadEncoding, result, encoding, error, errorEncoding, progress, headers } = task;
  const isKept = payload !== undefined;
  return (
    <>
      {error !== undefined && <Value title="Last error" value={error} encoding={errorEncoding} isError />}
      {progress !== undefined && <Value title="Progress" value={progress} />}
      {result !== undefined && <Value title="Result" value={result} encoding={encoding} />}
      {isKept && <Value title="Payload" value={payload} encoding={payloadEncoding} />}
      {!isKept && (
        <section class="value">
          <h2>Payload</h2>
          <p class="faint">
            {hidden || task.payloadsHidden ? "hidden" : "No longer kept: the task has ended."}
          </p>
        </section>
      )}
      {headers !== undefined && <Value title="Headers" value={headers} />}
    </>
  );
}

/** Whether a task no longer has its options: it has ended, and its payload is no longer kept. */
const hasForgotten = ({ state, reason }: Task) => state === "completed" || reason === "cancelled";

function Facts({ task }: { readonly task: Task }) {
  const {
    queue,
    group,
    priority,
    attempt,
    charged,
    requeues,
    worker,
    options,
    enqueuedAt,
    dueAt,
    deadlineAt,
    endedAt,
  } = task;
  const flow = flowOfTask(task.id);
  const facts: readonly (readonly [string, preact.ComponentChildren])[] = [
    ["Queue", <a href={queueLink(queue)}>{queue}</a>],
    ...(flow === undefined ? [] : [["Flow", <a href={flowLink(flow)}>{flow}</a>] as const]),
    ["Group", <bdi>{group ?? "none"}</bdi>],
    ["Priority", exact(priority ?? 0)],
    [
      "Attempts",
      `${exact(attempt)} (${exact(charged)} charged${hasForgotten(task) ? "" : options?.maxAttempts === 0 ? ", no limit" : `, of ${exact(options?.maxAttempts ?? 10)}`})`,
    ],
    ["Requeued", counted(requeues, "time")],
    ["Worker", worker === undefined ? "none" : `${worker.name} ${worker.incarnation ?? ""}`],
    ["Enqueued", instant(enqueuedAt)],
    ...(dueAt === undefined ? [] : [["Due", <When at={dueAt} />] as const]),
    ...(deadlineAt === undefined ? [] : [["Lease ends", <When at={deadlineAt} />] as const]),
    ...(endedAt === undefined ? [] : [["Time from enqueue to end", span(endedAt - enqueuedAt)] as const]),
  ];
  return (
    <section>
      <h2>Facts</h2>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

type Action = "cancel" | "redrive" | "remove" | "again";

function TaskActions({ task, onChanged }: { readonly task: Task; readonly onChanged: () => void }) {
  const { queue, id, state, reason, lease, payload, payloadEncoding } = task;
  const [asked, setAsked] = useState<Action | undefined>();
  const close = () => setAsked(undefined);
  // A copy under another id could not be decrypted.
  const isEncrypted = payloadEncoding === "base64" && String(payload).startsWith(ENVELOPE_BASE64);
  // What fell with another task is redriven with it.
  const isDead = state === "rejected" && !hasForgotten(task) && reason !== "dependency_failed";
  const button = (action: Action, text: string) => (
    <button type="button" onClick={() => setAsked(action)}>
      {text}
    </button>
  );
  const report = (text: string) => {
    announce(text);
    onChanged();
  };
  const cancelIt = async () => {
    const { state: now } = await cancel(queue, id, lease).catch((error: unknown) => {
      onChanged();
      if (!(error instanceof RequestError && error.code === "lease_lost")) throw error;
      throw new Error("The task has begun another attempt meanwhile, so nothing was changed. Try again.");
    });
    report(
      now === "working"
        ? `A cancel of ${id} was requested. Its consumer is asked to stop.`
        : `${id} was cancelled.`,
    );
  };
  return (
    <>
      {isDead && may("admin", queue) && button("redrive", "Redrive…")}
      {!hasEnded(state) && may("enqueue", queue) && button("cancel", "Cancel…")}
      {payload !== undefined && !isEncrypted && may("enqueue", queue) && button("again", "Enqueue again…")}
      {hasEnded(state) && may("admin", queue) && button("remove", "Remove…")}
      {asked === "redrive" && (
        <Confirm
          title={`Redrive ${id}?`}
          action="Redrive"
          run={() => checked(redriveMany(queue, [{ id, lease }])).then(() => report(`${id} was redriven.`))}
          onClose={close}
        >
          {reason === "lease_expired" && <ExpiredWarning />}
          <p>The task becomes pending again, at the back of {queue}. It may use all its attempts again.</p>
        </Confirm>
      )}
      {asked === "cancel" && (
        <Confirm title={`Cancel ${id}?`} action="Cancel the task" danger run={cancelIt} onClose={close}>
          <p>
            {state === "working"
              ? "Its consumer is asked to stop when it next extends or settles the task; if the consumer is dead, the task is cancelled when its lease ends. A task that is completed all the same stays completed."
              : "No consumer gets the task."}{" "}
            The payload and errors of a cancelled task are deleted, and it cannot be redriven.
          </p>
        </Confirm>
      )}
      {asked === "remove" && (
        <Confirm
          title={`Remove ${id}?`}
          action="Remove"
          danger
          run={() => remove(queue, id).then(() => announce(`${id} was removed.`))}
          onDone={() => goTo(queueLink(queue, state === "completed" ? "completed" : "dead"))}
          onClose={close}
        >
          <p>The record of the task is deleted for good, with its payload, its result and its errors.</p>
        </Confirm>
      )}
      {asked === "again" && (
        <EnqueueDialog
          queue={queue}
          like={task}
          onDone={(made) => goTo(taskLink(queue, made))}
          onClose={close}
        />
      )}
    </>
  );
}

/** @throws {Error} if the task was not redriven */
async function checked(reply: ReturnType<typeof redriveMany>): Promise<void> {
  const { refused } = await reply;
  const [first] = refused;
  if (first) throw new Error(`The task was not redriven: ${wordsOf(first.code)}.`);
}
