import { useState } from "preact/hooks";
import { may } from "../access.ts";
import { failWorker, forgetWorker, workers } from "../api/workers.ts";
import type { Worker } from "../api/types.ts";
import { counted, exact } from "../format.ts";
import { useLive } from "../live.ts";
import { When, WorkerName } from "../parts/badges.tsx";
import { Confirm, useShown } from "../parts/dialog.tsx";
import { Stale, Waiting } from "../parts/layout.tsx";
import { announce } from "../parts/notice.tsx";
import { MorePages, usePages } from "../parts/pages.tsx";
import { type Column, RowButtons, Table } from "../parts/table.tsx";
import { taskLink } from "../router.ts";

/** Ids of a worker's tasks that are shown. */
const SHOWN = 5;

export interface WorkersProps {
  readonly queue: string;
  readonly onChanged: () => void;
}

export function Workers({ queue, onChanged }: WorkersProps) {
  const pages = usePages();
  const { cursor } = pages;
  const { value, error, refresh } = useLive((signal) => workers(queue, cursor, signal), `${queue} ${cursor}`);
  const [asked, setAsked] = useState<Worker | undefined>();
  if (!value) return <Waiting error={error} retry={refresh} />;
  const Dialog = asked && (asked.working > 0 ? TakeBackDialog : ForgetDialog);
  const columns = columnsOf(queue);
  if (may("admin", queue)) {
    columns.push({
      title: "Actions",
      of: (worker) => (
        <RowButtons
          of={worker.name}
          actions={
            worker.state === "idle"
              ? []
              : [[worker.working > 0 ? "Take back" : "Forget", () => setAsked(worker)]]
          }
        />
      ),
    });
  }
  return (
    <>
      <Stale error={error} />
      <Table
        label={`Workers of ${queue}`}
        rows={value.workers}
        keyOf={({ name, incarnation = "" }) => `${name} ${incarnation}`}
        empty="No worker at present. Consumers without the option worker are not listed."
        columns={columns}
      />
      <MorePages {...pages} next={value.cursor} />
      {asked && Dialog && (
        <Dialog
          queue={queue}
          worker={asked}
          onDone={() => {
            refresh();
            onChanged();
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

const columnsOf = (queue: string): Column<Worker>[] => [
  {
    title: "Worker",
    of: ({ name, incarnation }) => (
      <>
        <strong>
          <WorkerName name={name} />
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
    of: ({ state, seenAt, failedAt, working }) =>
      seenAt !== null ? (
        <>
          {state && `${state}, last seen `}
          <When at={seenAt} />
        </>
      ) : failedAt === undefined || working > 0 ? (
        "failed; its tasks are being taken back"
      ) : (
        <>
          failed <When at={failedAt} />, not back: restart its process
        </>
      ),
  },
  {
    title: "Fails if still silent",
    of: ({ silentAt, silentAfter, seenAt }) =>
      seenAt === null ? "–" : silentAfter === undefined ? "never" : <When at={silentAt} />,
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
];

interface WorkerDialogProps {
  readonly queue: string;
  readonly worker: Worker;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function TakeBackDialog({ queue, worker, onDone, onClose }: WorkerDialogProps) {
  const { name, node, pid, working } = worker;
  const shown = useShown();
  const run = async () => {
    const total = { returned: 0, rejected: 0 };
    let more: boolean;
    do {
      const reply = await failWorker(queue, worker);
      total.returned += reply.returned;
      total.rejected += reply.rejected;
      more = reply.more;
    } while (more && shown.current);
    announce(
      `Taken back from ${name}: ${exact(total.returned)} pending, ${exact(total.rejected)} dead. Restart its process, if it still runs.`,
    );
    onDone();
  };
  return (
    <Confirm
      title={`Take the tasks of ${name} back?`}
      action="Take back"
      danger
      stops
      run={run}
      onClose={onClose}
    >
      <p>
        Its {counted(working, "task")} become pending at once; those without an attempt left become dead
        letters.
      </p>
      <p>
        <strong>Restart the process too{pid !== undefined && `: ${pid}${node ? ` on ${node}` : ""}`}.</strong>{" "}
        A process that hangs works on nothing else until then, and may still do what another one gets now.
      </p>
    </Confirm>
  );
}

function ForgetDialog({ queue, worker, onDone, onClose }: WorkerDialogProps) {
  const { name } = worker;
  const run = async () => {
    await forgetWorker(queue, worker);
    announce(`Took ${name} off the list.`);
    onDone();
  };
  return (
    <Confirm title={`Forget ${name}?`} action="Forget" run={run} onClose={onClose}>
      <p>It leaves the list. If its process still runs, it comes back with its next task or heartbeat.</p>
    </Confirm>
  );
}
