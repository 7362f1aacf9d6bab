import { useState } from "preact/hooks";
import { may } from "../access.ts";
import { stoppedGroups } from "../api/queues.ts";
import { redriveOne, remove, skip } from "../api/tasks.ts";
import type { StoppedGroup } from "../api/types.ts";
import { useLive } from "../live.ts";
import { Confirm } from "../parts/dialog.tsx";
import { announce } from "../parts/notice.tsx";
import { type Column, RowButtons, Table } from "../parts/table.tsx";
import { taskLink } from "../router.ts";

const acts = {
  Redrive: [redriveOne, "It is tried again, before all others of its group."],
  Delete: [remove, "It is deleted with its payload, and the group goes on."],
  Skip: [skip, "It stays a dead letter, and the group goes on."],
} as const;

interface StoppedProps {
  readonly queue: string;
  /** Changes when the tasks have changed. */
  readonly round: number;
  readonly onChanged: () => void;
}

/** The groups that dead letters have stopped, and what makes them go on. */
export function Stopped({ queue, round, onChanged }: StoppedProps) {
  const { value } = useLive((signal) => stoppedGroups(queue, signal), queue, { round });
  const [asked, setAsked] = useState<StoppedGroup & { readonly act: keyof typeof acts }>();
  if (!value?.total) return null;
  const columns: Column<StoppedGroup>[] = [
    { title: "Group", of: ({ group }) => group },
    { title: "Stopped by", of: ({ id }) => <a href={taskLink(queue, id)}>{id}</a> },
  ];
  if (may("admin", queue)) {
    const buttons = ({ group, id }: StoppedGroup) =>
      (Object.keys(acts) as (keyof typeof acts)[]).map(
        (act) => [act, () => setAsked({ act, group, id })] as const,
      );
    columns.push({ title: "Actions", of: (row) => <RowButtons of={row.id} actions={buttons(row)} /> });
  }
  const label = value.total === 1 ? "1 group is stopped" : `${value.total} groups are stopped`;
  return (
    <section>
      <h2>{label}</h2>
      <Table label={label} rows={value.groups} keyOf={({ group }) => group} empty="" columns={columns} />
      {asked && (
        <Confirm
          title={`${asked.act} ${asked.id}?`}
          action={asked.act}
          danger={asked.act === "Delete"}
          run={async () => {
            await acts[asked.act][0](queue, asked.id);
            announce(`The group ${asked.group} goes on.`);
          }}
          onDone={onChanged}
          onClose={() => setAsked(undefined)}
        >
          <p>{acts[asked.act][1]}</p>
        </Confirm>
      )}
    </section>
  );
}
