import { useState } from "preact/hooks";
import { may } from "../access.ts";
import type { Filter, ListedTask, State } from "../api/types.ts";
import { exact } from "../format.ts";
import type { Selection } from "../parts/selection.ts";
import { type BulkAction, ChosenDialog, verbs } from "./chosen-dialog.tsx";
import { PurgeDialog } from "./purge-dialog.tsx";
import { RedriveDialog } from "./redrive-dialog.tsx";

/** What the viewer may do with ticked tasks of a list. */
export function bulkActions(queue: string, state: State, filter: Filter): readonly BulkAction[] {
  const hasEnded = state === "completed" || state === "rejected";
  if (!hasEnded) return may("enqueue", queue) ? ["cancel"] : [];
  if (!may("admin", queue)) return [];
  return state === "rejected" && filter.reason !== "cancelled" ? ["redrive", "remove"] : ["remove"];
}

interface BulkBarProps {
  readonly queue: string;
  readonly state: State;
  readonly filter: Filter;
  readonly selection: Selection<ListedTask>;
  readonly onDone: (text: string) => void;
}

/** What can be done with the ticked tasks, and with all that match the filter. */
export function BulkBar({ queue, state, filter, selection, onDone }: BulkBarProps) {
  const [asked, setAsked] = useState<BulkAction | "redrive all" | "purge all" | undefined>();
  const { chosen, hasRows, hasAll, setAll, clear } = selection;
  const actions = bulkActions(queue, state, filter);
  const close = () => setAsked(undefined);
  const all = Object.keys(filter).length === 0 ? "all" : "all that match";
  const isChosen = actions.includes(asked as BulkAction);
  const button = (text: string, what: typeof asked, kind?: string) => (
    <button key={text} type="button" class={kind} onClick={() => setAsked(what)}>
      {text}
    </button>
  );
  return (
    <div class="bulk" role="group" aria-label="Actions on tasks">
      {actions.length > 0 && (
        <>
          <label class="switch">
            <input type="checkbox" checked={hasAll} disabled={!hasRows} onChange={() => setAll(!hasAll)} />
            All on this page
          </label>
          <span role="status">{chosen.size > 0 && `${exact(chosen.size)} selected`}</span>
        </>
      )}
      {chosen.size > 0 && (
        <>
          {actions.map((action) =>
            button(
              `${verbs[action].name} ${exact(chosen.size)}…`,
              action,
              action === "redrive" ? "primary" : "danger",
            ),
          )}
          <button type="button" class="quiet" onClick={clear}>
            Select none
          </button>
        </>
      )}
      <span class="fill" />
      {may("admin", queue) && state !== "working" && (
        <>
          {actions.includes("redrive") && button(`Redrive ${all}…`, "redrive all")}
          {button(`Purge ${all}…`, "purge all")}
        </>
      )}
      {isChosen && (
        <ChosenDialog
          queue={queue}
          state={state}
          action={asked as BulkAction}
          chosen={[...chosen.values()]}
          onDone={onDone}
          onClose={close}
        />
      )}
      {asked === "redrive all" && (
        <RedriveDialog queue={queue} filter={filter} onDone={onDone} onClose={close} />
      )}
      {asked === "purge all" && state !== "working" && (
        <PurgeDialog queue={queue} state={state} filter={filter} onDone={onDone} onClose={close} />
      )}
    </div>
  );
}
