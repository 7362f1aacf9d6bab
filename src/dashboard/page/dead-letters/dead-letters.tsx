import { useState } from "preact/hooks";
import { reasonTexts } from "../../../kernel/errors/reason-text.ts";
import { may } from "../access.ts";
import { deadLetters } from "../api/dead-letters.ts";
import type { Cause, DeadGroup, Filter } from "../api/types.ts";
import { counted, exact, wordsOf } from "../format.ts";
import { useLive } from "../live.ts";
import { When } from "../parts/badges.tsx";
import { Stale, Waiting } from "../parts/layout.tsx";
import { announce } from "../parts/notice.tsx";
import { Switch } from "../parts/switch.tsx";
import { type Column, RowButtons, Table } from "../parts/table.tsx";
import { type GroupAction, GroupDialog } from "../queues/group-dialog.tsx";
import { queueLink, taskLink } from "../router.ts";
import { keptFlag, useStore } from "../store.ts";
import { PurgeDialog } from "../tasks/purge-dialog.tsx";
import { RedriveDialog } from "../tasks/redrive-dialog.tsx";

/** Whether dead letters are shown by group, not by cause. */
const isByGroup = keptFlag("dead-by-group", false);

/** How often they are counted, ms: it looks at thousands of them. */
const EVERY = 60_000;

interface Asked {
  readonly action: "redrive" | "purge" | GroupAction["action"];
  readonly filter: Filter;
}

interface DeadLettersProps {
  readonly queue: string;
  /** Of which dead letters. */
  readonly filter: Filter;
  /** Changes when the viewer has done something. */
  readonly acts: number;
  readonly onChanged: () => void;
}

/** Dead letters by cause or by group, with what can be done with each. */
export function DeadLetters({ queue, filter, acts, onChanged }: DeadLettersProps) {
  const byGroup = useStore(isByGroup);
  const [asked, setAsked] = useState<Asked | undefined>();
  const load = (signal: AbortSignal) => deadLetters(queue, filter, signal);
  const key = JSON.stringify([queue, filter]);
  const { value, error, refresh } = useLive(load, key, { every: EVERY, round: acts, keep: true });
  if (!value) return error === undefined ? null : <Waiting error={error} retry={refresh} />;
  // A dialog stays open when all are gone: it may not be done yet.
  if (value.counted === 0 && value.cursor === null && asked === undefined) return null;
  const others = byGroup ? value.otherGroups : value.otherCauses;
  const close = () => setAsked(undefined);
  const done = (text: string) => {
    announce(text);
    onChanged();
  };
  const ask = may("admin", queue)
    ? (action: Asked["action"], of: Filter) => setAsked({ action, filter: { ...filter, ...of } })
    : undefined;
  return (
    <section aria-label="Dead letters by cause and group">
      <Stale error={error} />
      <div class="bulk">
        <Switch label="Dead letters" of={isByGroup} off="By cause" on="By group" />
        <span class="faint" role="status">
          {value.cursor === null ? "" : "the newest "}
          {counted(value.counted, "dead letter")}
        </span>
      </div>
      {byGroup ? (
        <Table
          label={`Dead letters of ${queue} by group`}
          rows={value.groups}
          keyOf={({ group }) => group ?? ""}
          empty="There are no such dead letters."
          columns={groupColumns(queue, ask)}
        />
      ) : (
        <Table
          label={`Dead letters of ${queue} by cause`}
          rows={value.causes}
          keyOf={({ reason, error }) => `${reason} ${error}`}
          empty="There are no such dead letters."
          columns={causeColumns(queue, ask)}
        />
      )}
      {others > 0 && (
        <p class="hint">
          {counted(others, "dead letter")} of other {byGroup ? "groups" : "causes"}.
        </p>
      )}
      {asked?.action === "redrive" && (
        <RedriveDialog queue={queue} filter={asked.filter} onDone={done} onClose={close} />
      )}
      {(asked?.action === "pause" || asked?.action === "limits") && (
        <GroupDialog
          queue={queue}
          action={asked.action}
          group={asked.filter.group ?? ""}
          onDone={onChanged}
          onClose={close}
        />
      )}
      {asked?.action === "purge" && (
        <PurgeDialog queue={queue} state="rejected" filter={asked.filter} onDone={done} onClose={close} />
      )}
    </section>
  );
}

type Ask = ((action: Asked["action"], filter: Filter) => void) | undefined;

/** The filter that finds the dead letters of a cause. */
const filterOfCause = ({ reason, text }: Cause): Filter => ({ reason, ...(text !== null && { text }) });

const causeLink = (queue: string, cause: Cause) => {
  const { reason, text } = filterOfCause(cause);
  return queueLink(queue, "dead", { reason, text });
};

const textOf = ({ reason, error }: Cause) => error || reasonTexts[reason];

const causeColumns = (queue: string, ask: Ask): Column<Cause>[] => [
  {
    title: "Cause",
    fills: true,
    of: (cause) => (
      <a class="clamped bad" href={causeLink(queue, cause)}>
        <bdi>{textOf(cause)}</bdi>
      </a>
    ),
  },
  { title: "Reason", of: ({ reason }) => wordsOf(reason) },
  ...commonColumns,
  {
    title: "Latest",
    of: ({ latest: { id } }) => (
      <a class="id" href={taskLink(queue, id)}>
        {id}
      </a>
    ),
  },
  ...actionColumn(ask, textOf, filterOfCause),
];

const groupColumns = (queue: string, ask: Ask): Column<DeadGroup>[] => [
  {
    title: "Group",
    fills: true,
    of: ({ group }) =>
      group === null ? (
        <span class="faint">no group</span>
      ) : (
        <a href={queueLink(queue, "dead", { group })} dir="auto">
          {group}
        </a>
      ),
  },
  ...commonColumns,
  ...actionColumn(
    ask,
    ({ group }: DeadGroup) => `the group ${group}`,
    ({ group }) => (group === null ? undefined : { group }),
    ["pause", "limits"],
  ),
];

type Common = Pick<Cause, "count" | "firstAt" | "lastAt">;

const commonColumns: readonly Column<Common>[] = [
  { title: "Count", count: true, of: ({ count }) => exact(count) },
  { title: "First", of: ({ firstAt }) => <When at={firstAt} /> },
  { title: "Last", of: ({ lastAt }) => <When at={lastAt} /> },
];

/** The texts of the buttons. */
const names = { redrive: "Redrive", purge: "Purge", pause: "Pause or resume", limits: "Limits" } as const;

/** Redrive, purge and more; nothing for a row without a filter. */
function actionColumn<Row>(
  ask: Ask,
  nameOf: (row: Row) => string,
  filterOf: (row: Row) => Filter | undefined,
  more: readonly Asked["action"][] = [],
): Column<Row>[] {
  if (!ask) return [];
  const of = (row: Row) => {
    const filter = filterOf(row);
    if (!filter) return null;
    return (
      <RowButtons
        of={nameOf(row)}
        actions={(["redrive", "purge", ...more] as const).map((action) => [
          names[action],
          () => ask(action, filter),
        ])}
      />
    );
  };
  return [{ title: "Actions", of }];
}
