import { groups } from "../api/queues.ts";
import type { Settings } from "../api/types.ts";
import { exact } from "../format.ts";
import { useLive } from "../live.ts";
import { Waiting } from "../parts/layout.tsx";
import { MorePages, usePages } from "../parts/pages.tsx";
import { Table } from "../parts/table.tsx";
import { queueLink } from "../router.ts";
import { limitTexts } from "./facts.tsx";

export function Groups({ queue, settings }: { readonly queue: string; readonly settings: Settings }) {
  const pages = usePages();
  const { cursor } = pages;
  const { value, error, refresh } = useLive((signal) => groups(queue, cursor, signal), `${queue} ${cursor}`);
  if (!value) return <Waiting error={error} retry={refresh} />;
  const limits = limitTexts(settings);
  return (
    <>
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
        columns={[
          {
            title: "Group",
            of: ({ group }) => (
              <a href={queueLink(queue, "pending", { group })} dir="auto">
                {group}
              </a>
            ),
          },
          { title: "Weight", count: true, of: ({ weight }) => exact(weight) },
          { title: "Ready", count: true, of: ({ ready }) => exact(ready) },
          { title: "Working", count: true, of: ({ working }) => exact(working) },
          { title: "Waiting for a limit", count: true, of: ({ limited }) => exact(limited) },
          { title: "Limits", of: (group) => limitTexts(group).join(", ") || "none" },
        ]}
      />
      <MorePages {...pages} next={value.cursor} />
    </>
  );
}
