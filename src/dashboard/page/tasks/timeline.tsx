import type { ComponentChildren } from "preact";
import { lostText, reasonTexts } from "../../../kernel/errors/reason-text.ts";
import type { Task } from "../api/types.ts";
import { counted, instant, span } from "../format.ts";
import { stateNames } from "../parts/badges.tsx";

interface Entry {
  readonly at: number;
  readonly tone: string;
  readonly title: string;
  readonly detail?: ComponentChildren;
}

/** What happened to a task, in order: the enqueue, each transition, and how each failed attempt ended. */
export function Timeline({ task }: { readonly task: Task }) {
  const entries = entriesOf(task);
  return (
    <section>
      <h2>Timeline</h2>
      <ol class="timeline">
        {entries.map(({ at, tone, title, detail }, i) => {
          const before = entries[i - 1];
          return (
            <li key={`${at} ${title} ${i}`} class={`at-${tone}`}>
              <span class="event">{title}</span>
              <time dateTime={new Date(at).toISOString()}>{instant(at)}</time>
              {before !== undefined && at > before.at && (
                <span class="faint">after {span(at - before.at)}</span>
              )}
              {detail}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function entriesOf({
  transitions,
  errors,
  enqueuedAt,
  attempt,
  reason,
  state,
  dueAt,
  deadlineAt,
}: Task): Entry[] {
  const entries: Entry[] = [{ at: enqueuedAt, tone: "enqueued", title: "enqueued" }];
  // The last transitions to working are the last attempts.
  const firstShown = attempt - transitions.filter(({ to }) => to === "working").length + 1;
  const failures = errors.map(failure);
  entries.push(...failures.filter((_, i) => (errors[i]?.attempt ?? 0) < firstShown));
  const [first] = transitions;
  if (first && first.version > 2) {
    entries.push({
      at: first.at,
      tone: "more",
      title: `no longer kept: ${counted(first.version - 2, "earlier transition")}`,
    });
  }
  let number = firstShown;
  for (const { version, to, at } of transitions) {
    if (to === "working") {
      entries.push({ at, tone: "working", title: `attempt ${number} begins` });
      // By its number: several things may happen in one millisecond.
      const failed = errors.findIndex((error) => error.attempt === number);
      const found = failures[failed];
      if (found) entries.push(found);
      number++;
    } else if (to === "cancelRequested") {
      entries.push({ at, tone: "cancelled", title: "cancel requested" });
    } else {
      // The record keeps the reason of the last end alone.
      const isLast = version === transitions.at(-1)?.version;
      entries.push({ at, tone: to, title: titleOf(to, isLast ? reason : undefined) });
    }
  }
  if (state === "delayed" && dueAt !== undefined) entries.push({ at: dueAt, tone: "next", title: "due" });
  if (state === "working" && deadlineAt !== undefined) {
    entries.push({ at: deadlineAt, tone: "next", title: "the lease ends, unless it is extended" });
  }
  // Those of one time stay as they are.
  return entries.toSorted((one, other) => one.at - other.at);
}

function failure({ attempt: number, at, error, encoding, takenBack }: Task["errors"][number]): Entry {
  const text =
    error === null ? lostText({ takenBack }) : encoding === "base64" ? "The error is encrypted." : error;
  return {
    at,
    tone: "failed",
    title: `attempt ${number} failed`,
    detail: (
      <span class="error">
        <bdi>{text}</bdi>
      </span>
    ),
  };
}

function titleOf(to: keyof typeof stateNames, reason: Task["reason"]): string {
  if (to === "pending") return "pending again";
  if (to !== "rejected") return stateNames[to];
  if (reason === undefined) return "dead";
  return reason === "cancelled" ? "cancelled" : `dead: ${reasonTexts[reason]}`;
}
