import type { State } from "../api/types.ts";
import { ago, instant } from "../format.ts";

/** Dead letters are rejected tasks; all texts of the page call them dead. */
export const stateNames: Readonly<Record<State, string>> = {
  pending: "pending",
  delayed: "delayed",
  blocked: "blocked",
  working: "working",
  completed: "completed",
  rejected: "dead",
};

export function StateBadge({
  state,
  reason,
}: {
  readonly state: State;
  readonly reason?: string | undefined;
}) {
  const text = reason === "cancelled" ? "cancelled" : stateNames[state];
  return <span class={`badge state-${reason === "cancelled" ? "cancelled" : state}`}>{text}</span>;
}

/** That a queue or a group is paused. @param until when the pause ends; null if it lasts until it is resumed */
export const PausedBadge = ({ until }: { readonly until: number | null }) => (
  <span class="badge state-delayed">{until === null ? "paused" : `paused until ${instant(until)}`}</span>
);

/** The name of a worker, in one line. */
export const WorkerName = ({ name }: { readonly name: string }) => (
  <span class="worker" dir="auto" title={name}>
    {name}
  </span>
);

/** An instant as a time span from now; the title has it in full. */
export function When({ at }: { readonly at: number | undefined | null }) {
  if (at === undefined || at === null) return <span class="faint">–</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={instant(at)}>
      {ago(at)}
    </time>
  );
}
