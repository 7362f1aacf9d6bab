import { tasks } from "../api/tasks.ts";
import type { State } from "../api/types.ts";
import { counted } from "../format.ts";
import { useLive } from "../live.ts";
import { Stale, Waiting } from "../parts/layout.tsx";
import { announce } from "../parts/notice.tsx";
import { Pages, usePages } from "../parts/pages.tsx";
import { useSelection } from "../parts/selection.ts";
import { Table } from "../parts/table.tsx";
import { useStore } from "../store.ts";
import { bulkActions, BulkBar } from "./bulk-bar.tsx";
import { columnsOf } from "./columns.tsx";
import { filterOf, Filters, isReversed } from "./filters.tsx";
import { isHidden } from "./value.tsx";

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
  const hidden = useStore(isHidden);
  const filter = filterOf(query, state);
  const reverse = isReversed(query, state) || undefined;
  const of = JSON.stringify([queue, state, filter, reverse]);
  const pages = usePages(of);
  const { cursor } = pages;
  const payloads = !hidden && state !== "completed" ? "preview" : undefined;
  const load = (signal: AbortSignal) =>
    tasks(queue, { state, size: PAGE, cursor, reverse, payloads, ...filter }, signal);
  const found = useLive(load, `${of} ${cursor} ${payloads}`, { round, keep: true });
  const page = found.value;
  const rows = page?.tasks ?? [];
  const selection = useSelection(rows, ({ id }) => id, of);
  const mayAct = bulkActions(queue, state, filter).length > 0;
  const done = (text: string) => {
    announce(text);
    selection.clear();
    pages.setCursors([]);
    onChanged();
  };
  return (
    <section aria-label="Tasks">
      <Filters queue={queue} state={state} query={query} />
      <BulkBar queue={queue} state={state} filter={filter} selection={selection} onDone={done} />
      {page ? (
        <>
          <Stale error={found.error} />
          <Table
            label={`Tasks of ${queue}`}
            columns={columnsOf({ queue, state, hidden }, rows)}
            rows={rows}
            keyOf={({ id }) => id}
            empty={
              page.cursor === null
                ? "There are no such tasks."
                : "No task was found so far. The next pages may have some."
            }
            selection={mayAct ? selection : undefined}
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
    </section>
  );
}
