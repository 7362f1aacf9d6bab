import { useState } from "preact/hooks";
import { shownReason } from "../../../kernel/errors/reason-text.ts";
import { may } from "../access.ts";
import { tasks } from "../api/queues.ts";
import type { State, Task } from "../api/types.ts";
import { counted, exact } from "../format.ts";
import { useLive } from "../live.ts";
import { When, Worker } from "../parts/badges.tsx";
import { Stale, Waiting } from "../parts/layout.tsx";
import { announce } from "../parts/notice.tsx";
import { Pages, usePages } from "../parts/pages.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { taskLink } from "../router.ts";
import { filterOf, Filters } from "./filters.tsx";
import { PurgeDialog } from "./purge-dialog.tsx";
import { RedriveDialog } from "./redrive-dialog.tsx";

const PAGE = 50;

interface TaskListProps {
  readonly queue: string;
  readonly state: State;
  readonly query: URLSearchParams;
  /** Changes when the tasks have changed. */
  readonly round: number;
  readonly onChanged: () => void;
}

export function TaskList({ queue, state, query, round, onChanged }: TaskListProps) {
  const pages = usePages();
  const [asked, setAsked] = useState<"redrive" | "purge" | undefined>();
  const filter = filterOf(query, state);
  const { cursor } = pages;
  const key = JSON.stringify([queue, state, filter, cursor]);
  const load = (signal: AbortSignal) => tasks(queue, { state, size: PAGE, cursor, ...filter }, signal);
  const found = useLive(load, key, { round });
  const page = found.value;
  const done = (text: string) => {
    announce(text);
    pages.setCursors([]);
    onChanged();
  };
  return (
    <section aria-label="Tasks">
      <Filters queue={queue} state={state} query={query} />
      {may("admin", queue) && state !== "working" && (
        <div class="bulk">
          {state === "rejected" && filter.reason !== "cancelled" && (
            <button type="button" class="primary" onClick={() => setAsked("redrive")}>
              Redrive…
            </button>
          )}
          <button type="button" onClick={() => setAsked("purge")}>
            Purge…
          </button>
        </div>
      )}
      {page ? (
        <>
          <Stale error={found.error} />
          <Table
            label={`Tasks of ${queue}`}
            columns={columnsOf(queue, state)}
            rows={page.tasks}
            keyOf={({ id }) => id}
            empty={
              page.cursor === null
                ? "There are no such tasks."
                : "No task was found so far. The next pages may have some."
            }
          />
          {page.unreadable > 0 && (
            <p class="failure">
              {counted(page.unreadable, "task")} not shown: a newer release wrote the records, or they are
              damaged.
              <code> sluice doctor</code> says more.
            </p>
          )}
          <Pages {...pages} next={page.cursor} />
        </>
      ) : (
        <Waiting error={found.error} retry={found.refresh} />
      )}
      {asked === "redrive" && (
        <RedriveDialog queue={queue} filter={filter} onDone={done} onClose={() => setAsked(undefined)} />
      )}
      {asked === "purge" && state !== "working" && (
        <PurgeDialog
          queue={queue}
          state={state}
          filter={filter}
          onDone={done}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}

/** The last error, short: of its attempts, or of the record; or the text that is shown in its place. */
const errorOf = (task: Task) =>
  shownReason(task) ??
  task.errors.at(-1)?.error ??
  (task.error === undefined ? null : JSON.stringify(task.error));

function columnsOf(queue: string, state: State): Column<Task>[] {
  const ends: Record<State, Column<Task>[]> = {
    pending: [],
    delayed: [{ title: "Due", of: ({ dueAt }) => <When at={dueAt} /> }],
    working: [
      { title: "Since", of: ({ dequeuedAt }) => <When at={dequeuedAt} /> },
      { title: "Lease ends", of: ({ deadlineAt }) => <When at={deadlineAt} /> },
      {
        title: "Worker",
        of: ({ worker }) =>
          worker === undefined ? <span class="faint">–</span> : <Worker name={worker.name} />,
      },
    ],
    completed: [{ title: "Ended", of: ({ endedAt }) => <When at={endedAt} /> }],
    rejected: [
      { title: "Ended", of: ({ endedAt }) => <When at={endedAt} /> },
      { title: "Reason", of: ({ reason }) => reason?.replaceAll("_", " ") ?? "–" },
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
    { title: "Enqueued", of: ({ enqueuedAt }) => <When at={enqueuedAt} /> },
    ...ends[state],
    {
      title: "Last error",
      of: (task) => {
        const error = errorOf(task);
        return error === null ? (
          <span class="faint">–</span>
        ) : (
          <span class="short bad" title={error.slice(0, 1_000)}>
            <bdi>{error.slice(0, 300)}</bdi>
          </span>
        );
      },
    },
  ];
}
