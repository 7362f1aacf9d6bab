import type { ComponentChildren } from "preact";
import { may } from "../access.ts";
import { deepSweep, sweep } from "../api/health.ts";
import type { Finding } from "../api/types.ts";
import { counted } from "../format.ts";
import { askQueue } from "../palette/entries.ts";
import { Confirm, useShown } from "../parts/dialog.tsx";
import { announce } from "../parts/notice.tsx";
import { GroupDialog } from "../queues/group-dialog.tsx";
import { TurnQueue } from "../queues/queue-actions.tsx";
import { TurnSchedule } from "../queues/schedules.tsx";
import { queueLink, taskLink } from "../router.ts";
import { RedriveDialog } from "../tasks/redrive-dialog.tsx";

/** What can be done about a finding with a dialog. */
export interface FindingAction {
  readonly kind:
    | "pause"
    | "resume"
    | "redrive"
    | "sweep"
    | "deep sweep"
    | "resume schedule"
    | "resume group"
    | "group limits";
  readonly queue: string;
  /** The schedule or the group. */
  readonly name?: string;
}

/** The tabs of a queue that show the cause of a finding. */
const causes: Readonly<Partial<Record<Finding["code"], readonly (keyof typeof links)[]>>> = {
  nothing_ends: ["working", "workers"],
  nothing_taken: ["workers"],
  no_consumer: ["workers"],
  attempts_fail: ["delayed"],
  worker_lost: ["workers"],
  leases_expire: ["working"],
  group_at_limit: ["groups"],
  group_paused: ["groups"],
  schedule_failing: ["schedules"],
  schedule_paused: ["schedules"],
  dead_letters: ["dead"],
  dead_letters_rising: ["dead"],
};

/** The texts of the links to tabs. */
const links = {
  working: "Working tasks",
  workers: "Workers",
  delayed: "Delayed tasks",
  groups: "Groups",
  schedules: "Schedules",
  dead: "Causes",
} as const;

const actions: Readonly<Partial<Record<Finding["code"], keyof typeof buttons>>> = {
  paused: "resume",
  not_swept: "sweep",
  schedule_failing: "sweep",
  dead_letters: "redrive",
  dead_letters_rising: "redrive",
  broken_entries: "deep sweep",
};

/** The texts of the buttons. */
const buttons = {
  pause: "Pause…",
  resume: "Resume…",
  redrive: "Redrive…",
  sweep: "Sweep now…",
  "deep sweep": "Deep sweep…",
} as const;

interface RemediesProps {
  readonly finding: Finding;
  /** Also those of its queue. */
  readonly all: readonly Finding[];
  readonly onAsk: (action: FindingAction) => void;
}

/** Where to look, and what to do, about a finding. */
export function Remedies({ finding: { code, queue, names = [] }, all, onAsk }: RemediesProps) {
  if (queue === undefined) return null;
  const stands = (other: Finding["code"]) => all.some((one) => one.queue === queue && one.code === other);
  const act = actions[code];
  // Otherwise tasks use up their attempts, redriven ones again.
  const isHarmed = (code === "attempts_fail" || act === "redrive") && stands("attempts_fail");
  const button = (text: string, onClick: () => void) => (
    <button key={text} type="button" class="small" aria-label={`${text} ${queue}`} onClick={onClick}>
      {text}
    </button>
  );
  const ask = (kind: keyof typeof buttons) => button(buttons[kind], () => onAsk({ kind, queue }));
  const askNamed = (kind: FindingAction["kind"], verb: string) => (name: string) =>
    button(`${verb} ${name}…`, () => onAsk({ kind, queue, name }));
  // Other groups may wait for their limits.
  const group = names.slice(0, 1);
  return (
    <span class="row-buttons">
      {causes[code]?.map((tab) => (
        <a key={tab} href={queueLink(queue, tab)} aria-label={`${links[tab]} of ${queue}`}>
          {links[tab]}
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
          {isHarmed && !stands("paused") && ask("pause")}
          {act && ask(act)}
          {code === "queue_at_limit" && button("Limits…", () => askQueue(queue, "limits"))}
          {code === "group_paused" && group.map(askNamed("resume group", "Resume"))}
          {code === "group_at_limit" && group.map(askNamed("group limits", "Limits of"))}
          {code === "schedule_paused" && names.map(askNamed("resume schedule", "Resume"))}
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
  if (kind === "pause" || kind === "resume")
    return <TurnQueue queue={queue} action={kind} onDone={onDone} onClose={onClose} />;
  if (kind === "redrive") return <RedriveDialog queue={queue} filter={{}} onDone={done} onClose={onClose} />;
  if (kind === "resume group" || kind === "group limits") {
    const action = kind === "group limits" ? "limits" : "pause";
    return <GroupDialog queue={queue} action={action} group={name} onDone={onDone} onClose={onClose} />;
  }
  if (kind === "resume schedule") {
    return <TurnSchedule queue={queue} action="resume" name={name} onDone={onDone} onClose={onClose} />;
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
      "What is due becomes pending, expired leases end, and schedules occur, in all queues of the token. Cron does this each minute: if it has stopped, start it too.",
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
    "Every entry is checked, and contradictions are repaired. The queue works meanwhile.",
  );
}
