import { useState } from "preact/hooks";
import { may } from "../access.ts";
import { group as readGroup, groups } from "../api/queues.ts";
import type { Group, Settings } from "../api/types.ts";
import { exact } from "../format.ts";
import { useLive } from "../live.ts";
import { PausedBadge } from "../parts/badges.tsx";
import { Stale, Waiting } from "../parts/layout.tsx";
import { MorePages, usePages } from "../parts/pages.tsx";
import { type Column, RowButtons, Table } from "../parts/table.tsx";
import { queueLink } from "../router.ts";
import { limitTexts } from "./facts.tsx";
import { type GroupAction, GroupDialog } from "./group-dialog.tsx";

export interface GroupsProps {
  readonly queue: string;
  readonly settings: Settings;
  /** Changes when the tasks have changed. */
  readonly round: number;
  readonly onChanged: () => void;
}

export function Groups({ queue, settings, round, onChanged }: GroupsProps) {
  const pages = usePages();
  const { cursor } = pages;
  const [{ named, times }, setNamed] = useState({ named: "", times: 0 });
  const load = async (signal: AbortSignal) => {
    const page = await groups(queue, cursor, signal);
    if (named === "" || page.groups.some(({ group }) => group === named)) return page;
    return { ...page, groups: [await readGroup(queue, named, signal), ...page.groups] };
  };
  const { value, error, refresh } = useLive(load, `${queue} ${cursor}`, { round: round + times });
  const [asked, setAsked] = useState<GroupAction | undefined>();
  if (!value) return <Waiting error={error} retry={refresh} />;
  const close = () => setAsked(undefined);
  const limits = limitTexts(settings);
  const columns = columnsOf(queue);
  if (may("admin", queue)) {
    columns.push({
      title: "Actions",
      of: ({ group, paused }) => (
        <RowButtons
          of={group}
          actions={[
            [paused ? "Resume" : "Pause", () => setAsked({ action: "pause", group })],
            ["Limits", () => setAsked({ action: "limits", group })],
          ]}
        />
      ),
    });
  }
  return (
    <>
      <Stale error={error} />
      <p class="hint">
        {limits.length === 0
          ? "The queue as a whole has no limit."
          : `The queue as a whole: ${limits.join(", ")}.`}
      </p>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget).get("group") as string;
          setNamed({ named: given, times: times + 1 });
        }}
      >
        <label>
          Group without waiting tasks
          <input name="group" pattern="[A-Za-z0-9][!-~]{0,127}" title="A letter or digit, then no spaces" />
        </label>
        <button type="submit">Show</button>
      </form>
      <Table
        label={`Groups of ${queue}`}
        rows={value.groups}
        keyOf={({ group }) => group}
        empty={
          value.cursor === null
            ? "No group has a waiting task."
            : "No group was found so far. The next pages may have some."
        }
        columns={columns}
      />
      <MorePages {...pages} next={value.cursor} />
      {asked && <GroupDialog queue={queue} {...asked} onDone={onChanged} onClose={close} />}
    </>
  );
}

const columnsOf = (queue: string): Column<Group>[] => [
  {
    title: "Group",
    of: ({ group, paused, pausedUntil }) => (
      <>
        <a href={queueLink(queue, "pending", { group })} dir="auto">
          {group}
        </a>
        {paused && <PausedBadge until={pausedUntil} />}
      </>
    ),
  },
  { title: "Weight", count: true, of: ({ weight }) => exact(weight) },
  { title: "Ready", count: true, of: ({ ready }) => exact(ready) },
  { title: "Working", count: true, of: ({ working }) => exact(working) },
  { title: "Waiting for a limit", count: true, of: ({ limited }) => exact(limited) },
  { title: "Limits", of: (group) => limitTexts(group).join(", ") || "none" },
];
