import { SLOTS } from "../../../kernel/names/slots.ts";
import { partitions } from "../api/queues.ts";
import { exact, number } from "../format.ts";
import { useLive } from "../live.ts";
import { Waiting } from "../parts/layout.tsx";
import { Table } from "../parts/table.tsx";

export function Partitions({ queue }: { readonly queue: string }) {
  const { value, error, refresh } = useLive((signal) => partitions(queue, signal), queue);
  if (!value) return <Waiting error={error} retry={refresh} />;
  const hint = value.changing
    ? `The change to ${value.count} partitions is not complete. The next sweep completes it.`
    : `New tasks go to ${value.count} of these partitions.`;
  return (
    <>
      <p class="hint">{hint}</p>
      <Table
        label={`Partitions of ${queue}`}
        rows={value.partitions}
        keyOf={({ partition }) => String(partition)}
        empty="The queue has no partitions."
        columns={[
          { title: "Partition", of: ({ partition }) => exact(partition) },
          { title: "Part of new tasks", count: true, of: ({ slots }) => partOf(slots) },
          { title: "Pending", count: true, of: ({ pending }) => number(pending) },
          { title: "Delayed", count: true, of: ({ delayed }) => number(delayed) },
          { title: "Working", count: true, of: ({ working }) => number(working) },
          { title: "Dead", count: true, of: ({ rejected }) => number(rejected) },
        ]}
      />
    </>
  );
}

const partOf = (slots: number) => (slots === 0 ? "none" : `${((100 * slots) / SLOTS).toFixed(0)} %`);
