import { useState } from "preact/hooks";
import { may } from "../access.ts";
import { changeGroup, groups } from "../api/queues.ts";
import type { Group, Settings } from "../api/types.ts";
import { counted, exact } from "../format.ts";
import { useLive } from "../live.ts";
import { Confirm } from "../parts/dialog.tsx";
import { Stale, Waiting } from "../parts/layout.tsx";
import { announce } from "../parts/notice.tsx";
import { MorePages, usePages } from "../parts/pages.tsx";
import { type Column, RowButtons, Table } from "../parts/table.tsx";
import { queueLink } from "../router.ts";
import { limitTexts } from "./facts.tsx";
import { LimitsDialog } from "./limits-dialog.tsx";

interface GroupsProps {
  readonly queue: string;
  readonly settings: Settings;
  /** Changes when the tasks have changed. */
  readonly round: number;
  readonly onChanged: () => void;
}

interface Asked {
  readonly action: "pause" | "limits";
  readonly group: Group;
}

export function Groups({ queue, settings, round, onChanged }: GroupsProps) {
  const pages = usePages();
  const { cursor } = pages;
  const load = (signal: AbortSignal) => groups(queue, cursor, signal);
  const { value, error, refresh } = useLive(load, `${queue} ${cursor}`, { round });
  const [asked, setAsked] = useState<Asked | undefined>();
  if (!value) return <Waiting error={error} retry={refresh} />;
  const close = () => setAsked(undefined);
  const limits = limitTexts(settings);
  const columns = columnsOf(queue);
  if (may("admin", queue)) {
    columns.push({
      title: "Actions",
      of: (group) => (
        <RowButtons
          of={group.group}
          actions={[
            [group.paused ? "Resume" : "Pause", () => setAsked({ action: "pause", group })],
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
      {asked?.action === "limits" && (
        <LimitsDialog queue={queue} of={asked.group} onDone={onChanged} onClose={close} />
      )}
      {asked?.action === "pause" && (
        <PauseDialog queue={queue} group={asked.group} onDone={onChanged} onClose={close} />
      )}
    </>
  );
}

const columnsOf = (queue: string): Column<Group>[] => [
  {
    title: "Group",
    of: ({ group, paused }) => (
      <>
        <a href={queueLink(queue, "pending", { group })} dir="auto">
          {group}
        </a>
        {paused && <span class="badge state-delayed">paused</span>}
      </>
    ),
  },
  { title: "Weight", count: true, of: ({ weight }) => exact(weight) },
  { title: "Ready", count: true, of: ({ ready }) => exact(ready) },
  { title: "Working", count: true, of: ({ working }) => exact(working) },
  { title: "Waiting for a limit", count: true, of: ({ limited }) => exact(limited) },
  { title: "Limits", of: (group) => limitTexts(group).join(", ") || "none" },
];

interface PauseDialogProps {
  readonly queue: string;
  readonly group: Group;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function PauseDialog({ queue, group: { group, paused, ready, limited }, onDone, onClose }: PauseDialogProps) {
  const run = async () => {
    await changeGroup(queue, group, { paused: !paused });
    announce(`The group ${group} is ${paused ? "resumed" : "paused"}.`);
    onDone();
  };
  const verb = paused ? "Resume" : "Pause";
  return (
    <Confirm title={`${verb} the group ${group}?`} action={verb} run={run} onClose={onClose}>
      <p>
        {paused
          ? `Consumers get tasks of the group again. Waiting: ${counted(limited, "task")}.`
          : `Consumers get no more tasks of the group, others are not delayed. Waiting: ${counted(ready + limited, "task")}. Those that are working go on.`}
      </p>
    </Confirm>
  );
}
