import { useRef, useState } from "preact/hooks";
import { may } from "../access.ts";
import { runSchedule, schedules, turnSchedule } from "../api/schedules.ts";
import type { ListedSchedule } from "../api/types.ts";
import { instant, span } from "../format.ts";
import { useLive } from "../live.ts";
import { When } from "../parts/badges.tsx";
import { Confirm } from "../parts/dialog.tsx";
import { Stale, Waiting } from "../parts/layout.tsx";
import { announce } from "../parts/notice.tsx";
import { announceEnqueued } from "../tasks/enqueued.tsx";
import { MorePages, usePages } from "../parts/pages.tsx";
import { type Column, RowButtons, Table } from "../parts/table.tsx";
import { ScheduleDialog, ScheduleForm } from "./schedule-dialog.tsx";

interface Asked {
  readonly action: "run" | "pause" | "resume" | "edit";
  /** The schedule. */
  readonly name: string;
}

export interface SchedulesProps {
  readonly queue: string;
  /** Changes when the viewer has done something. */
  readonly acts: number;
  readonly onChanged: () => void;
}

export function Schedules({ queue, acts, onChanged }: SchedulesProps) {
  const pages = usePages();
  const { cursor } = pages;
  const load = (signal: AbortSignal) => schedules(queue, cursor, signal);
  const { value, error, refresh } = useLive(load, `${queue} ${cursor}`, { round: acts });
  const [asked, setAsked] = useState<Asked | undefined>();
  const [isNew, setNew] = useState(false);
  if (!value) return <Waiting error={error} retry={refresh} />;
  const close = () => setAsked(undefined);
  const mayChange = may("admin", queue);
  const columns = columnsOf();
  if (mayChange) {
    columns.push({
      title: "Actions",
      of: ({ name, paused }) => {
        const ask = (action: Asked["action"]) => () => setAsked({ action, name });
        const turn = paused ? (["Resume", ask("resume")] as const) : (["Pause", ask("pause")] as const);
        return <RowButtons of={name} actions={[["Run now", ask("run")], turn, ["Edit", ask("edit")]]} />;
      },
    });
  }
  return (
    <>
      <Stale error={error} />
      {mayChange && (
        <div class="bulk">
          <button type="button" onClick={() => setNew(true)}>
            New schedule…
          </button>
        </div>
      )}
      <Table
        label={`Schedules of ${queue}`}
        rows={value.schedules}
        keyOf={({ name }) => name}
        empty="This queue has no schedule."
        columns={columns}
      />
      <MorePages {...pages} next={value.cursor} />
      {isNew && <ScheduleForm queue={queue} onDone={onChanged} onClose={() => setNew(false)} />}
      {asked?.action === "edit" && (
        <ScheduleDialog queue={queue} name={asked.name} onDone={onChanged} onClose={close} />
      )}
      {asked && asked.action !== "edit" && (
        <TurnSchedule queue={queue} {...asked} action={asked.action} onDone={onChanged} onClose={close} />
      )}
    </>
  );
}

const columnsOf = (): Column<ListedSchedule>[] => [
  {
    title: "Schedule",
    of: ({ name, paused, pausedAt }) => (
      <>
        <strong dir="auto">{name}</strong>{" "}
        {paused && (
          <>
            <span class="badge state-delayed">paused</span> <When at={pausedAt} />
          </>
        )}
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
];

interface TurnScheduleProps extends Asked {
  readonly queue: string;
  readonly action: Exclude<Asked["action"], "edit">;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Runs, pauses or resumes a schedule. */
export function TurnSchedule({ queue, action, name, onDone, onClose }: TurnScheduleProps) {
  // A second try after a lost answer must not enqueue a second task.
  const key = useRef(crypto.randomUUID());
  const run = async () => {
    if (action === "run") {
      const { id } = await runSchedule(queue, name, key.current);
      announceEnqueued(queue, id);
    } else {
      await turnSchedule(queue, name, action);
      announce(`${name} is ${action}d.`);
    }
    onDone();
  };
  const { title, text, button } = {
    run: {
      title: `Run ${name} now?`,
      text: `One task is enqueued, with the payload and the options of the schedule. Its next occurrence stays as it is.`,
      button: "Run now",
    },
    pause: {
      title: `Pause ${name}?`,
      text: "It enqueues no task until it is resumed. Tasks that it has enqueued stay.",
      button: "Pause",
    },
    resume: {
      title: `Resume ${name}?`,
      text: "It occurs again from now on. The occurrences of its pause are not enqueued; for one of them, run it now.",
      button: "Resume",
    },
  }[action];
  return (
    <Confirm title={title} action={button} run={run} onClose={onClose}>
      <p>{text}</p>
    </Confirm>
  );
}
