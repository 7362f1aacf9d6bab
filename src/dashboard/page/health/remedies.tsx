import type { ComponentChildren } from "preact";
import { may } from "../access.ts";
import { deepSweep, sweep } from "../api/health.ts";
import { resumeSchedule } from "../api/schedules.ts";
import type { Finding } from "../api/types.ts";
import { counted } from "../format.ts";
import { askQueue } from "../palette/entries.ts";
import { Confirm, useShown } from "../parts/dialog.tsx";
import { announce } from "../parts/notice.tsx";
import { GroupDialog } from "../queues/group-dialog.tsx";
import { ResumeDialog } from "../queues/queue-actions.tsx";
import { queueLink, taskLink } from "../router.ts";
import { RedriveDialog } from "../tasks/redrive-dialog.tsx";

/** What can be done about a finding with a dialog. */
export interface FindingAction {
  readonly kind: "resume" | "redrive" | "sweep" | "deep sweep" | "resume schedule" | "resume group";
  readonly queue: string;
  /** The schedule or the group. */
  readonly name?: string;
}

/** Where the cause of a finding is shown: the tab of its queue, and the text of the link. */
const causes: Readonly<Partial<Record<Finding["code"], readonly (readonly [tab: string, text: string])[]>>> =
  {
    nothing_ends: [
      ["working", "Working tasks"],
      ["workers", "Workers"],
    ],
    nothing_taken: [["workers", "Workers"]],
    no_consumer: [["workers", "Workers"]],
    attempts_fail: [["delayed", "Delayed tasks"]],
    worker_lost: [["workers", "Workers"]],
    leases_expire: [["working", "Working tasks"]],
    group_at_limit: [["groups", "Groups"]],
    group_paused: [["groups", "Groups"]],
    schedule_failing: [["schedules", "Schedules"]],
    schedule_paused: [["schedules", "Schedules"]],
    dead_letters: [["dead", "Causes"]],
    dead_letters_rising: [["dead", "Causes"]],
  };

const actions: Readonly<
  Partial<Record<Finding["code"], readonly (readonly [FindingAction["kind"], string])[]>>
> = {
  paused: [["resume", "Resume…"]],
  not_swept: [["sweep", "Sweep now…"]],
  schedule_failing: [["sweep", "Sweep now…"]],
  dead_letters: [["redrive", "Redrive…"]],
  dead_letters_rising: [["redrive", "Redrive…"]],
  broken_entries: [["deep sweep", "Deep sweep…"]],
};

interface RemediesProps {
  readonly finding: Finding;
  readonly onAsk: (action: FindingAction) => void;
}

/** Where to look, and what to do, about a finding. */
export function Remedies({ finding: { code, queue, names = [] }, onAsk }: RemediesProps) {
  if (queue === undefined) return null;
  const button = (text: string, act: () => void) => (
    <button key={text} type="button" class="small" aria-label={`${text} ${queue}`} onClick={act}>
      {text}
    </button>
  );
  return (
    <span class="row-buttons">
      {causes[code]?.map(([tab, text]) => (
        <a key={tab} href={queueLink(queue, tab)} aria-label={`${text} of ${queue}`}>
          {text}
        </a>
      ))}
      {(code === "leases_expire" || code === "attempts_fail") &&
        names.map((id) => (
          <a key={id} href={taskLink(queue, id)}>
            Task {id}
          </a>
        ))}
      {may("admin", queue) && (
        <>
          {actions[code]?.map(([kind, text]) => button(text, () => onAsk({ kind, queue })))}
          {code === "queue_at_limit" && button("Limits…", () => askQueue(queue, "limits"))}
          {code === "group_paused" &&
            // Others may wait for their limits.
            names
              .slice(0, 1)
              .map((name) => button(`Resume ${name}…`, () => onAsk({ kind: "resume group", queue, name })))}
          {code === "schedule_paused" &&
            names.map((name) =>
              button(`Resume ${name}…`, () => onAsk({ kind: "resume schedule", queue, name })),
            )}
        </>
      )}
    </span>
  );
}

interface FindingDialogProps {
  readonly action: FindingAction;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function FindingDialog({ action: { kind, queue, name = "" }, onDone, onClose }: FindingDialogProps) {
  const shown = useShown();
  const done = (text: string) => {
    announce(text);
    onDone();
  };
  const confirm = (title: string, button: string, run: () => Promise<unknown>, text: ComponentChildren) => (
    <Confirm title={title} action={button} stops run={run} onClose={onClose}>
      <p>{text}</p>
    </Confirm>
  );
  if (kind === "resume") return <ResumeDialog queue={queue} onDone={onDone} onClose={onClose} />;
  if (kind === "redrive") return <RedriveDialog queue={queue} filter={{}} onDone={done} onClose={onClose} />;
  if (kind === "resume group")
    return <GroupDialog queue={queue} action="pause" group={name} onDone={onDone} onClose={onClose} />;
  if (kind === "resume schedule") {
    return confirm(
      `Resume ${name}?`,
      "Resume",
      () => resumeSchedule(queue, name).then(() => done(`${name} is resumed.`)),
      "The schedule occurs again from now on. The occurrences of its pause are not enqueued.",
    );
  }
  if (kind === "sweep") {
    return confirm(
      "Sweep once now?",
      "Sweep",
      async () => {
        const { promoted, reclaimed, scheduled } = await sweep();
        done(
          `Swept: ${promoted} due, ${reclaimed} taken back from expired leases, ${scheduled} of schedules.`,
        );
      },
      "What is due becomes pending, expired leases end, and schedules occur, in all queues of the token. This is what cron does each minute: if it has stopped, start it again too.",
    );
  }
  return confirm(
    `Deep sweep of ${queue}?`,
    "Deep sweep",
    async () => {
      let faults = 0;
      let cursor: string | null | undefined;
      do {
        const reply = await deepSweep(queue, cursor ?? undefined);
        faults += reply.faults.length;
        ({ cursor } = reply);
      } while (cursor !== null && shown.current);
      done(`${queue} was checked: ${counted(faults, "kind of fault", "kinds of faults")} repaired.`);
    },
    "Every entry of the queue is checked, and contradictions are repaired. Tasks may be enqueued and delivered meanwhile.",
  );
}
