import { invalidArgument, SluiceError } from "../errors.ts";
import { MAX_BATCH } from "../kernel/options/limits.ts";
import { type TaskState, taskStates } from "../kernel/options/types.ts";
import { ID, onlyOptions, wholeNumber } from "../kernel/options/validation.ts";
import { slicesOf } from "../kernel/slices.ts";
import type { TaskInfo } from "../kernel/record/task-info.ts";
import type { Transport } from "../kernel/transport.ts";
import { countQueues, type CountedQueue, queuesWithTask } from "./count-queues.ts";
import {
  type FoundTask,
  SEARCHED,
  searchedText,
  type Searched,
  type SearchOptions,
  type SearchPage,
} from "./search-tasks.ts";

export interface FindTasksOptions {
  /** In which queues: a name, or a pattern such as "emails-*". @default "*" */
  readonly queues?: string | undefined;
  /** What tasks have in their id, payload, error or result: 1 to 1,000 characters, case-sensitive. */
  readonly text: string;
  /** Only tasks in this state. @default all states */
  readonly state?: TaskState | undefined;
  /** At most this many tasks, 1 to 1,000. @default 20 */
  readonly size?: number | undefined;
  /** The cursor of the page before. @default the first page */
  readonly cursor?: string | undefined;
  /** First part of every key. @default that of the transport, or "sluice" */
  readonly prefix?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For tests only: the clock instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/** Tasks of several queues. */
export interface FoundTasks {
  readonly tasks: readonly FoundTask[];
  /** How far this call has looked: about how many tasks, in how many queues. */
  readonly looked: { readonly tasks: number; readonly queues: number };
  /** How many tasks have values that could not be searched: they are encrypted, or in an object store. */
  readonly unsearched: number;
  /** Queues that could not be searched, and why. */
  readonly failed: readonly { readonly queue: string; readonly code: string }[];
  /** To search on; null if all was searched. */
  readonly cursor: string | null;
}

/** A queue of a search. */
export interface SearchableQueue {
  search(options: SearchOptions): Promise<SearchPage>;
  get(id: string): Promise<TaskInfo | null>;
}

/** How many requests one call makes at most to read tasks; each looks at up to 1,000. */
const MOST_PAGES = 20;

/** Of how many queues one request counts or reads at most. */
const SLICE = 50;

/** Where a search is: in which queue, in which of its states, and the cursor there, empty for the beginning. */
type Position = readonly [queue: string, of: Searched, inner: string];

/**
 * Searches queues, in the order of their names. A task with the text as its id comes first.
 * @param names of all queues of the search, in order
 */
export async function searchQueues(
  transport: Transport,
  names: readonly string[],
  open: (name: string) => SearchableQueue,
  options: FindTasksOptions,
): Promise<FoundTasks> {
  onlyOptions(options, ["text", "queues", "state", "size", "cursor", "prefix", "signal", "now"]);
  const text = searchedText(options.text);
  const size = wholeNumber(options.size ?? 20, "size", 1, MAX_BATCH);
  const searched = searchedStates(options.state);
  const begin = options.cursor === undefined ? undefined : readPosition(options.cursor);
  const { signal } = options;
  const tasks: FoundTask[] = [];
  const failed: { queue: string; code: string }[] = [];
  const seen = new Set<string>();
  const looked = { tasks: 0 };
  let unsearched = 0;
  let pages = 0;
  const result = (next?: Position): FoundTasks => ({
    tasks,
    looked: { ...looked, queues: seen.size },
    unsearched,
    failed,
    cursor: next ? JSON.stringify(next) : null,
  });
  if (!begin) {
    for (const slice of ID.test(text) ? slicesOf(names, SLICE) : []) {
      for (const name of await queuesWithTask(transport, slice, text, countOptions(options))) {
        const task = await open(name).get(text);
        if (task && searched.includes(searchedOf(task))) tasks.push({ ...task, found: "id" });
      }
    }
  }
  for (const slice of slicesOf(
    names.filter((name) => name >= (begin?.[0] ?? "")),
    SLICE,
  )) {
    const counted = await countQueues(transport, slice, countOptions(options));
    for (const [i, name] of slice.entries()) {
      const counts = counted[i] as CountedQueue;
      if ("code" in counts) {
        failed.push({ queue: name, code: counts.code });
        continue;
      }
      const isBegun = begin?.[0] === name;
      for (const of of searched.slice(isBegun ? Math.max(0, searched.indexOf(begin[1])) : 0)) {
        if (of !== "completed" && of !== "cancelled" && counts[of] === 0) continue;
        let inner = isBegun && begin[1] === of ? begin[2] : "";
        do {
          if (tasks.length >= size || pages >= MOST_PAGES) return result([name, of, inner]);
          pages++;
          seen.add(name);
          try {
            const cursor = inner === "" ? undefined : inner;
            const page = await open(name).search({ text, of, size: size - tasks.length, cursor, signal });
            // That task was found by its id.
            tasks.push(...page.tasks.filter(({ id }) => id !== text));
            looked.tasks += page.looked;
            unsearched += page.unsearched;
            inner = page.cursor ?? "";
          } catch (error) {
            if (!(error instanceof SluiceError) || error.code !== "newer_schema") throw error;
            failed.push({ queue: name, code: error.code });
            inner = "";
          }
        } while (inner !== "");
      }
      seen.add(name);
    }
  }
  return result();
}

function searchedStates(state: TaskState | undefined): readonly Searched[] {
  if (state === undefined) return SEARCHED;
  if (!taskStates.includes(state)) throw invalidArgument("state", `must be one of ${taskStates.join(", ")}`);
  return state === "rejected" ? ["rejected", "cancelled"] : [state];
}

const searchedOf = ({ state, reason }: TaskInfo): Searched => (reason === "cancelled" ? reason : state);

/** @throws {SluiceError} `invalid_argument` */
function readPosition(cursor: string): Position {
  try {
    const [queue, of, inner, ...others] = JSON.parse(cursor) as unknown[];
    const isSearched = SEARCHED.some((one) => one === of);
    if (typeof queue === "string" && typeof inner === "string" && isSearched && others.length === 0)
      return [queue, of as Searched, inner];
  } catch {
    // Refused below.
  }
  throw invalidArgument("cursor", "must be the cursor of an earlier call");
}

const countOptions = ({ prefix, signal, now }: FindTasksOptions) => ({ prefix, signal, now });
