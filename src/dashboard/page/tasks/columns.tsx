import { shownReason } from "../../../kernel/errors/reason-text.ts";
import { flowOfTask } from "../../../kernel/linked/flow-of-task.ts";
import type { ListedTask, State } from "../api/types.ts";
import { exact, wordsOf } from "../format.ts";
import { When, WorkerName } from "../parts/badges.tsx";
import type { Column } from "../parts/table.tsx";
import { flowLink, taskLink } from "../router.ts";

/** Characters of a value that a row has at most. */
const SHOWN = 300;

const Faint = ({ text = "–" }: { readonly text?: string | undefined }) => <span class="faint">{text}</span>;

/** A text over the width of its column, in some lines. */
const Clamped = ({ text, tone = "" }: { readonly text: string; readonly tone?: string }) => (
  <span class={`clamped ${tone}`} title={text.slice(0, 1_000)}>
    <bdi>{text.slice(0, SHOWN)}</bdi>
  </span>
);

/** The last error: of its attempts, or of the record; or the text that is shown in its place. */
const errorOf = (task: ListedTask) =>
  shownReason(task) ??
  task.errors.at(-1)?.error ??
  (task.error === undefined ? null : JSON.stringify(task.error));

export function ErrorText({ task }: { readonly task: ListedTask }) {
  const error = errorOf(task);
  return error === null ? <Faint /> : <Clamped text={error} tone="bad" />;
}

interface ValueTextProps {
  readonly task: ListedTask;
  /** Whether the viewer wants values hidden. */
  readonly hidden: boolean;
}

/** The beginning of a task's payload. */
export function PayloadText({ task: { preview, previewOmitted, payloadsHidden }, hidden }: ValueTextProps) {
  if (hidden || payloadsHidden) return <Faint text="hidden" />;
  return preview === undefined ? <Faint text={previewOmitted} /> : <Clamped text={preview} tone="value" />;
}

function ResultText({ task: { result, encoding, payloadsHidden }, hidden }: ValueTextProps) {
  if (hidden || payloadsHidden) return <Faint text="hidden" />;
  if (result === undefined) return <Faint />;
  return encoding === "base64" ? (
    <Faint text="bytes" />
  ) : (
    <Clamped text={JSON.stringify(result)} tone="value" />
  );
}

function FlowName({ of }: { readonly of: string }) {
  const flow = flowOfTask(of);
  return flow === undefined ? <Faint /> : <a href={flowLink(flow)}>{flow}</a>;
}

/** The columns of a list of tasks in one state. */
export function columnsOf(
  { queue, state, hidden }: { readonly queue: string; readonly state: State; readonly hidden: boolean },
  rows: readonly ListedTask[],
): Column<ListedTask>[] {
  const payload: Column<ListedTask> = {
    title: "Payload",
    fills: true,
    of: (task) => <PayloadText task={task} hidden={hidden} />,
  };
  const error: Column<ListedTask> = {
    title: "Last error",
    fills: true,
    of: (task) => <ErrorText task={task} />,
  };
  // Few tasks that have not ended have one.
  const errors = rows.some((task) => errorOf(task) !== null) ? [error] : [];
  const enqueued: Column<ListedTask> = {
    title: "Enqueued",
    of: ({ enqueuedAt }) => <When at={enqueuedAt} />,
  };
  const ended: Column<ListedTask> = { title: "Ended", of: ({ endedAt }) => <When at={endedAt} /> };
  const ofState: Record<State, Column<ListedTask>[]> = {
    pending: [payload, enqueued, ...errors],
    delayed: [payload, { title: "Due", of: ({ dueAt }) => <When at={dueAt} /> }, ...errors],
    blocked: [payload, enqueued, { title: "Flow", of: ({ id }) => <FlowName of={id} /> }, ...errors],
    working: [
      payload,
      { title: "Since", of: ({ dequeuedAt }) => <When at={dequeuedAt} /> },
      { title: "Lease ends", of: ({ deadlineAt }) => <When at={deadlineAt} /> },
      {
        title: "Worker",
        of: ({ worker }) => (worker === undefined ? <Faint /> : <WorkerName name={worker.name} />),
      },
      ...errors,
    ],
    completed: [
      enqueued,
      ended,
      { title: "Result", fills: true, of: (task) => <ResultText task={task} hidden={hidden} /> },
    ],
    rejected: [
      ended,
      { title: "Reason", of: ({ reason }) => (reason === undefined ? "–" : wordsOf(reason)) },
      payload,
      error,
    ],
  };
  return [
    {
      title: "Task",
      of: ({ id, cancelRequested }) => (
        <>
          <a class="name id" href={taskLink(queue, id)}>
            {id}
          </a>
          {cancelRequested && <span class="badge state-cancelled">cancel requested</span>}
        </>
      ),
    },
    { title: "Group", of: ({ group }) => <bdi>{group ?? "–"}</bdi> },
    { title: "Attempts", count: true, of: ({ attempt }) => exact(attempt) },
    ...ofState[state],
  ];
}
