import { MAX_BATCH } from "../kernel/options/limits.ts";
import { errorText } from "../kernel/errors/error-text.ts";
import { shownReason } from "../kernel/errors/reason-text.ts";
import { LIST_OPTIONS, onlyOptions } from "../kernel/options/validation.ts";
import type { ListOptions, RejectReason } from "../kernel/options/types.ts";
import { isEnvelope } from "../kernel/record/envelope.ts";
import { FILTER_OPTIONS, type TaskFilter } from "./filters.ts";
import { type ListedTask, listTasks } from "./list-tasks.ts";
import type { OperatedQueue } from "./operated-queue.ts";

/** Dead letters that have something in common. Instants are epoch ms. */
interface Common {
  readonly count: number;
  /** When the first of them died. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Dead letters with the same reason and the same error. */
export interface DeadLetterCause extends Common {
  readonly reason: RejectReason;
  /** The error without ids and numbers, which are `…`, except status codes; at most 200 characters. Empty if there is none. */
  readonly error: string;
  /**
   * The longest text that all errors of the cause have. With `reason` it is the filter of the cause; it may also find
   * others that have the text. Null if there is none, as in encrypted errors.
   */
  readonly text: string | null;
  /** The latest of them. */
  readonly latest: { readonly id: string; readonly lease: number };
}

export interface DeadLetterGroup extends Common {
  /** Null: the dead letters without a group. */
  readonly group: string | null;
}

/** Dead letters, counted by cause and by group; the most frequent first, at most 100 of each. */
export interface DeadLetterCounts {
  readonly counted: number;
  readonly causes: readonly DeadLetterCause[];
  readonly groups: readonly DeadLetterGroup[];
  /** How many dead letters have other causes than the most frequent ones. */
  readonly otherCauses: number;
  readonly otherGroups: number;
  /** To count on; null if all were counted. */
  readonly cursor: string | null;
  /** Dead letters that were left out, because their records are invalid or of a newer release of Sluice. */
  readonly unreadable: number;
}

export type CountDeadLettersOptions = TaskFilter & Pick<ListOptions, "cursor" | "signal">;

/** How many pages of dead letters one call reads. */
const PAGES = 5;

/** Most causes, and most groups, that are returned, and that are kept apart while counting. */
const MOST = 100;
const MOST_COUNTED = 1_000;

/** Counts dead letters by cause and by group: see `Operator.deadLetters`. */
export async function countDeadLetters(
  queue: OperatedQueue,
  options: CountDeadLettersOptions,
): Promise<DeadLetterCounts> {
  onlyOptions(
    options,
    [...FILTER_OPTIONS, ...LIST_OPTIONS].filter((name) => name !== "size"),
  );
  const counting = new Counting();
  let { cursor } = options;
  let unreadable = 0;
  for (let pages = 0; pages < PAGES; pages++) {
    const page = await listTasks(queue, {
      ...options,
      state: "rejected",
      reverse: true,
      size: MAX_BATCH,
      cursor,
    });
    for (const task of page.tasks) counting.add(task);
    unreadable += page.unreadable;
    cursor = page.cursor ?? undefined;
    if (cursor === undefined) break;
  }
  return { ...counting.result(), cursor: cursor ?? null, unreadable };
}

/** The sum of counts, such as of two pages. The cursor is that of the other one. */
export function sumOfDeadLetters(one: DeadLetterCounts, other: DeadLetterCounts): DeadLetterCounts {
  const counting = new Counting();
  for (const counts of [one, other]) counting.addCounts(counts);
  return {
    ...counting.result(),
    cursor: other.cursor,
    unreadable: one.unreadable + other.unreadable,
  };
}

class Counting {
  readonly #causes = new Map<string, DeadLetterCause>();
  readonly #groups = new Map<string | null, DeadLetterGroup>();
  #counted = 0;

  add(task: ListedTask): void {
    const { id, lease, group = null, endedAt = 0 } = task;
    const times = { count: 1, firstAt: endedAt, lastAt: endedAt };
    this.#counted++;
    addTo(this.#causes, keyOf, { ...causeOf(task), ...times, latest: { id, lease } });
    addTo(this.#groups, (one) => one.group, { group, ...times });
  }

  addCounts({ counted, causes, groups }: DeadLetterCounts): void {
    this.#counted += counted;
    for (const cause of causes) addTo(this.#causes, keyOf, cause);
    for (const group of groups) addTo(this.#groups, (one) => one.group, group);
  }

  result(): Pick<DeadLetterCounts, "counted" | "causes" | "groups" | "otherCauses" | "otherGroups"> {
    const counted = this.#counted;
    const causes = mostFrequent(this.#causes);
    const groups = mostFrequent(this.#groups);
    return {
      counted,
      causes,
      groups,
      otherCauses: counted - sumOf(causes),
      otherGroups: counted - sumOf(groups),
    };
  }
}

function addTo<Key, One extends Common>(found: Map<Key, One>, keyOf: (one: One) => Key, one: One): void {
  const key = keyOf(one);
  const known = found.get(key);
  if (!known && found.size >= MOST_COUNTED) return;
  const latest = known && known.lastAt > one.lastAt ? known : one;
  found.set(key, {
    ...latest,
    count: (known?.count ?? 0) + one.count,
    firstAt: Math.min(known?.firstAt ?? one.firstAt, one.firstAt),
  });
}

const keyOf = ({ reason, error }: Pick<DeadLetterCause, "reason" | "error">) => `${reason} ${error}`;

const mostFrequent = <One extends Common>(found: ReadonlyMap<unknown, One>): One[] =>
  [...found.values()].toSorted((one, other) => other.count - one.count).slice(0, MOST);

const sumOf = (counts: readonly Common[]) => counts.reduce((sum, { count }) => sum + count, 0);

/** The cause of a dead letter. */
export function causeOf(task: ListedTask): Pick<DeadLetterCause, "reason" | "error" | "text"> {
  const { reason = "rejected" } = task;
  const shown = shownReason(task);
  if (shown !== undefined) return { reason, error: shown, text: shown };
  const { error } = task;
  if (error === undefined) return { reason, error: "", text: null };
  if (isEnvelope(error)) return { reason, error: "encrypted", text: null };
  return { reason, error: withoutIds(errorText(error)), text: commonText(error) };
}

/**
 * Ids and numbers would make a cause of each error. A number that `HTTP`, `status` or `code` names is kept, and so is 4xx
 * or 5xx where a message begins. An id is a long word with a digit; of a word such as `S3` the number is part of the name.
 */
function withoutIds(text: string): string {
  return text.replace(
    /((?:(?:HTTP[\d/.]*|status|code)\W{0,3}\d{1,4}|(?:^|: |\()[45]\d\d)(?!\w))|\b(?=[\w-]*\d)[\w-]{12,}\b|(?<![a-z])\d(?:[\w.,:]*\w)?|\d{5,}/gi,
    (_, status?: string) => status ?? "…",
  );
}

/** The longest part of an error that all errors of the cause have in their records. */
function commonText(error: unknown): string | null {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  const isException = typeof message === "string" && message !== "";
  const text = isException || typeof error === "string" ? errorText(isException ? message : error) : "";
  const parts = withoutIds(text)
    .split("…")
    .map((part) => part.trim());
  const [longest = ""] = parts.toSorted((one, other) => other.length - one.length);
  return longest === "" ? null : longest;
}
