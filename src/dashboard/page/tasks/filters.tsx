import { useState } from "preact/hooks";
import type { Filter, State } from "../api/types.ts";
import { stateNames } from "../parts/badges.tsx";
import { goTo, queueLink, taskLink } from "../router.ts";

/** The parameters of the filter in the URL. */
const FIELDS = ["group", "text", "reason", "since", "until"] as const;

const reasons = {
  rejected: "rejected",
  attempts_exhausted: "attempts exhausted",
  lease_expired: "lease expired",
  cancelled: "cancelled",
} as const;

export const hasEnded = (state: State) => state === "completed" || state === "rejected";

/**
 * The filter of the URL, as the HTTP interface takes it. Its times are those of the end, or of the enqueue while a
 * task has not ended.
 */
export function filterOf(query: URLSearchParams, state: State): Filter {
  const instant = (name: string) => {
    const at = Date.parse(query.get(name) ?? "");
    return Number.isNaN(at) ? undefined : at;
  };
  const [since, until] = [instant("since"), instant("until")];
  const [from, before] = hasEnded(state)
    ? (["endedSince", "endedUntil"] as const)
    : (["enqueuedSince", "enqueuedUntil"] as const);
  const texts = ["group", "text", "reason"].flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(texts),
    ...(since !== undefined && { [from]: since }),
    ...(until !== undefined && { [before]: until }),
  };
}

/** The filter in words; empty without one. */
export function filterTexts(filter: Filter): string[] {
  const { group, text, reason, endedSince, endedUntil, enqueuedSince, enqueuedUntil } = filter;
  const at = (words: string, instant: number | undefined) =>
    instant === undefined ? [] : [`${words} ${new Date(instant).toLocaleString()}`];
  return [
    ...(group === undefined ? [] : [`of the group ${group}`]),
    ...(text === undefined ? [] : [`with “${text}” in the last error or result`]),
    ...(reason === undefined ? [] : [`with the reason ${reason.replaceAll("_", " ")}`]),
    ...at("ended since", endedSince),
    ...at("ended before", endedUntil),
    ...at("enqueued since", enqueuedSince),
    ...at("enqueued before", enqueuedUntil),
  ];
}

interface FiltersProps {
  readonly queue: string;
  readonly state: State;
  readonly query: URLSearchParams;
}

export function Filters({ queue, state, query }: FiltersProps) {
  const [id, setId] = useState("");
  const apply = (form: HTMLFormElement) => {
    const data = new FormData(form);
    const given = Object.fromEntries(
      FIELDS.map((name) => {
        const value = data.get(name);
        return [name, typeof value === "string" ? value.trim() : ""];
      }),
    );
    goTo(queueLink(queue, stateNames[state], given));
  };
  return (
    <div class="filters">
      <form
        role="search"
        aria-label="Open a task"
        onSubmit={(event) => {
          event.preventDefault();
          if (id.trim() !== "") goTo(taskLink(queue, id.trim()));
        }}
      >
        <label>
          Id
          <input type="search" value={id} onInput={(event) => setId(event.currentTarget.value)} />
        </label>
        <button type="submit">Open</button>
      </form>
      <form
        // Drawn anew if the filter comes from a link.
        key={query.toString()}
        role="search"
        aria-label="Filter tasks"
        onSubmit={(event) => {
          event.preventDefault();
          apply(event.currentTarget);
        }}
      >
        <label>
          Group
          <input name="group" defaultValue={query.get("group") ?? ""} />
        </label>
        {state !== "pending" && (
          <label>
            {state === "completed" ? "Text of the result" : "Text of the error"}
            <input name="text" defaultValue={query.get("text") ?? ""} />
          </label>
        )}
        {state === "rejected" && (
          <label>
            Reason
            <select name="reason" defaultValue={query.get("reason") ?? ""}>
              <option value="">any dead letter</option>
              {Object.entries(reasons).map(([reason, text]) => (
                <option key={reason} value={reason}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          {hasEnded(state) ? "Ended since" : "Enqueued since"}
          <input name="since" type="datetime-local" defaultValue={query.get("since") ?? ""} />
        </label>
        <label>
          {hasEnded(state) ? "Ended before" : "Enqueued before"}
          <input name="until" type="datetime-local" defaultValue={query.get("until") ?? ""} />
        </label>
        <button type="submit">Filter</button>
        {FIELDS.some((name) => query.has(name)) && <a href={queueLink(queue, stateNames[state])}>Show all</a>}
      </form>
    </div>
  );
}
