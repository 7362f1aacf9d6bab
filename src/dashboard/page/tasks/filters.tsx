import { rejectReasons } from "../../../kernel/options/types.ts";
import type { Filter, State } from "../api/types.ts";
import { wordsOf } from "../format.ts";
import { stateNames } from "../parts/badges.tsx";
import { Select } from "../parts/select.tsx";
import { queueLink } from "../router.ts";
import { useTypedQuery } from "../typed-query.ts";

/** The parameters of the filter in the URL. */
const FIELDS = ["group", "text", "reason", "since", "until", "order"] as const;

const reasons = Object.fromEntries(rejectReasons.map((reason) => [reason, wordsOf(reason)]));

/** The order of a list that is not the usual one: the first at the top of tasks that have ended, else the last. */
const OTHER = "other";

/** Whether a list is in the reverse order of the HTTP interface. Of tasks that have ended, the newest come first. */
export const isReversed = (query: URLSearchParams, state: State) =>
  hasEnded(state) !== (query.get("order") === OTHER);

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
    ...(reason === undefined ? [] : [`with the reason ${wordsOf(reason)}`]),
    ...at("ended since", endedSince),
    ...at("ended before", endedUntil),
    ...at("enqueued since", enqueuedSince),
    ...at("enqueued before", enqueuedUntil),
  ];
}

const ended = { "": "newest first", [OTHER]: "oldest first" };

const orders: Readonly<Record<State, Readonly<Record<string, string>>>> = {
  pending: { "": "next first", [OTHER]: "last first" },
  delayed: { "": "next due first", [OTHER]: "last due first" },
  blocked: { "": "by id", [OTHER]: "by id, backwards" },
  working: { "": "next lease to end first", [OTHER]: "last lease to end first" },
  completed: ended,
  rejected: ended,
};

interface FiltersProps {
  readonly queue: string;
  readonly state: State;
  readonly query: URLSearchParams;
}

/** The filter of a list. It applies as the viewer types, and is in the URL. */
export function Filters({ queue, state, query }: FiltersProps) {
  const { fields, set } = useTypedQuery(query, FIELDS, (given) => queueLink(queue, stateNames[state], given));
  const field = (name: (typeof FIELDS)[number], label: string, type = "search") => (
    <label>
      {label}
      <input type={type} value={fields[name]} onInput={(event) => set(name, event.currentTarget.value)} />
    </label>
  );
  const choice = (
    name: (typeof FIELDS)[number],
    label: string,
    options: Readonly<Record<string, string>>,
  ) => <Select label={label} value={fields[name]} set={(value) => set(name, value)} options={options} />;
  const time = hasEnded(state) ? "Ended" : "Enqueued";
  return (
    <div class="filters" role="search" aria-label="Filter tasks">
      {field("group", "Group")}
      {state !== "pending" &&
        field("text", state === "completed" ? "Text of the result" : "Text of the error")}
      {state === "rejected" && choice("reason", "Reason", { "": "any except cancelled", ...reasons })}
      {field("since", `${time} since`, "datetime-local")}
      {field("until", `${time} before`, "datetime-local")}
      {choice("order", "Order", orders[state])}
      {FIELDS.some((name) => query.has(name)) && <a href={queueLink(queue, stateNames[state])}>Show all</a>}
    </div>
  );
}
