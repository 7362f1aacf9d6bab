import { invalidArgument } from "../errors.ts";
import { shownReason } from "../kernel/errors/reason-text.ts";
import { MAX_BATCH } from "../kernel/options/limits.ts";
import type { ListOptions, TaskState } from "../kernel/options/types.ts";
import { LIST_OPTIONS, onlyOptions, trueOrFalse, wholeNumber } from "../kernel/options/validation.ts";
import { writeFilter } from "./filters.ts";
import { type ListedTask, readPage } from "./list-tasks.ts";
import type { OperatedQueue } from "./operated-queue.ts";

/** A task that a search has found. */
export type FoundTask = ListedTask & {
  /** Where it has the text; the first of these that does. */
  readonly found: "id" | "error" | "result" | "payload";
};

/** Where a search goes, one after the other: first where an operator looks. Cancelled tasks are no dead letters. */
export const SEARCHED = [
  "rejected",
  "working",
  "pending",
  "delayed",
  "blocked",
  "completed",
  "cancelled",
] as const;

/** The tasks in one state, or the cancelled ones. */
export type Searched = (typeof SEARCHED)[number];

export interface SearchOptions extends ListOptions {
  /** 1 to 1,000 characters, case-sensitive. */
  readonly text: string;
  readonly of: Searched;
  /** False looks in ids and errors alone, and leaves previews out. @default true */
  readonly values?: boolean | undefined;
}

export interface SearchPage {
  readonly tasks: readonly FoundTask[];
  readonly cursor: string | null;
  /** How many tasks were looked at, about: also records of other states. */
  readonly looked: number;
  /** How many of these have a payload, result or error that is encrypted or in an object store. */
  readonly unsearched: number;
}

/** Most bytes of the records of a page. */
const MAX_BYTES = 2_000_000;

/** Searches the tasks in one state, the newest first. One request, of which each partition looks at 1,000 tasks. */
export async function searchTasks(queue: OperatedQueue, options: SearchOptions): Promise<SearchPage> {
  onlyOptions(options, ["text", "of", "values", ...LIST_OPTIONS]);
  const { of, values = true, cursor, signal } = options;
  const text = searchedText(options.text);
  const size = wholeNumber(options.size ?? 100, "size", 1, MAX_BATCH);
  if (!SEARCHED.includes(of)) throw invalidArgument("of", `must be one of ${SEARCHED.join(", ")}`);
  const state: TaskState = of === "cancelled" ? "rejected" : of;
  // Of completed tasks the text is that of the result.
  const places = trueOrFalse(values, "values") ? "ep" : of === "completed" ? "-" : "e";
  const filter = writeFilter({ text, ...(of === "cancelled" && { reason: "cancelled" }) });
  const page = await readPage(queue, {
    state,
    size,
    maxBytes: MAX_BYTES,
    filter: `;t=${places}${filter}`,
    payloads: values ? "p" : "",
    isReverse: true,
    cursor,
    signal,
  });
  return {
    tasks: page.tasks.map((task) => ({ ...task, found: placeOf(task, text) })),
    cursor: page.cursor,
    looked: page.looked,
    unsearched: page.sealed,
  };
}

function placeOf(task: ListedTask, text: string): FoundTask["found"] {
  if (task.id.includes(text)) return "id";
  if (shownReason(task)?.includes(text)) return "error";
  const json = JSON.stringify(text).slice(1, -1);
  if (task.error !== undefined && JSON.stringify(task.error).includes(json)) return "error";
  if (task.result !== undefined && JSON.stringify(task.result).includes(json)) return "result";
  const isInPayload = task.preview === undefined || task.preview.endsWith("…") || task.preview.includes(json);
  return isInPayload ? "payload" : "error";
}

/**
 * Checks the text of a search.
 * @throws {SluiceError} `invalid_argument`
 */
export function searchedText(text: unknown): string {
  if (typeof text !== "string" || text === "")
    throw invalidArgument("text", "must be a text of 1 to 1000 characters");
  writeFilter({ text });
  return text;
}
