import { workers } from "../api/queues.ts";
import { counted, exact } from "../format.ts";
import { useLive } from "../live.ts";
import { When, Worker } from "../parts/badges.tsx";
import { Waiting } from "../parts/layout.tsx";
import { MorePages, usePages } from "../parts/pages.tsx";
import { Table } from "../parts/table.tsx";
import { taskLink } from "../router.ts";

/** Ids of a worker's tasks that are shown. */
const SHOWN = 5;

export function Workers({ queue }: { readonly queue: string }) {
  const pages = usePages();
  const { cursor } = pages;
  const { value, error, refresh } = useLive((signal) => workers(queue, cursor, signal), `${queue} ${cursor}`);
  if (!value) return <Waiting error={error} retry={refresh} />;
  return (
    <>
      <Table
        label={`Workers of ${queue}`}
        rows={value.workers}
        keyOf={({ name, incarnation = "" }) => `${name} ${incarnation}`}
        empty="No worker at present. A consumer that gives a name, with the option worker, is listed here until it has been silent for some time."
        columns={[
          {
            title: "Worker",
            of: ({ name, incarnation }) => (
              <>
                <strong>
                  <Worker name={name} />
                </strong>{" "}
                <span class="faint">{incarnation}</span>
              </>
            ),
          },
          {
            title: "Where",
            of: ({ node, pid }) =>
              [node, pid === undefined ? undefined : `process ${pid}`].filter(Boolean).join(", ") || "–",
          },
          {
            title: "Seen",
            of: ({ seenAt }) =>
              seenAt === null ? "failed; its tasks are being taken back" : <When at={seenAt} />,
          },
          {
            title: "Fails if still silent",
            of: ({ silentAt, silentAfter }) => (silentAfter === undefined ? "never" : <When at={silentAt} />),
          },
          { title: "Working", count: true, of: ({ working }) => exact(working) },
          {
            title: "Tasks",
            of: ({ tasks, working }) => (
              <span class="ids">
                {tasks.slice(0, SHOWN).map((id) => (
                  <a key={id} href={taskLink(queue, id)}>
                    {id}
                  </a>
                ))}
                {working > SHOWN && <span class="faint">and {counted(working - SHOWN, "more", "more")}</span>}
              </span>
            ),
          },
        ]}
      />
      <MorePages {...pages} next={value.cursor} />
    </>
  );
}
