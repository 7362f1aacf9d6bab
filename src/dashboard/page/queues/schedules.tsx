import { schedules } from "../api/queues.ts";
import { instant, span } from "../format.ts";
import { useLive } from "../live.ts";
import { When } from "../parts/badges.tsx";
import { Waiting } from "../parts/layout.tsx";
import { MorePages, usePages } from "../parts/pages.tsx";
import { Table } from "../parts/table.tsx";

export function Schedules({ queue }: { readonly queue: string }) {
  const pages = usePages();
  const { cursor } = pages;
  const { value, error, refresh } = useLive(
    (signal) => schedules(queue, cursor, signal),
    `${queue} ${cursor}`,
  );
  if (!value) return <Waiting error={error} retry={refresh} />;
  return (
    <>
      <Table
        label={`Schedules of ${queue}`}
        rows={value.schedules}
        keyOf={({ name }) => name}
        empty="This queue has no schedule."
        columns={[
          {
            title: "Schedule",
            of: ({ name, paused }) => (
              <>
                <strong dir="auto">{name}</strong> {paused && <span class="badge state-delayed">paused</span>}
              </>
            ),
          },
          {
            title: "When",
            of: ({ cron, timeZone, every }) =>
              cron === undefined ? (
                `every ${span(every ?? 0)}`
              ) : (
                <>
                  <code>{cron}</code> {timeZone ?? "UTC"}
                </>
              ),
          },
          { title: "Next", of: ({ nextAt }) => <When at={nextAt} /> },
          { title: "Last", of: ({ lastAt }) => <When at={lastAt} /> },
          {
            title: "Missed occurrences",
            of: ({ missed }) => (missed === "all" ? "enqueues all" : "enqueues the last"),
          },
          { title: "Ends", of: ({ until }) => (until === undefined ? "never" : instant(until)) },
        ]}
      />
      <MorePages {...pages} next={value.cursor} />
    </>
  );
}
