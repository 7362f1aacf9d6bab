import { invalidArgument, SluiceError } from "../errors.ts";
import { MAX_BATCH } from "../kernel/options/limits.ts";
import { type TaskState, taskStates } from "../kernel/options/types.ts";
import { ID, onlyOptions, wholeNumber } from "../kernel/options/validation.ts";
import { slicesOf } from "../kernel/slices.ts";
import type { TaskInfo } from "../kernel/record/task-info.ts";
import type { Transport } from "../kernel/transport.ts";
import type { QueueCounts } from "../kernel/tasks/counts.ts";
import { countQueues, type NotCounted, queuesWithTask } from "./count-queues.ts";
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
  const { prefix, signal, now } = options;
  const counting = { prefix, signal, now };
  const tasks: FoundTask[] = [];
  const failed: NotCounted[] = [];
  const seen = new Set<string>();
  let [pages, looked, unsearched] = [0, 0, 0];
  const result = (next?: Position): FoundTasks => ({
    tasks,
    looked: { tasks: looked, queues: seen.size },
    unsearched,
    failed,
    cursor: next ? JSON.stringify(next) : null,
  });
  if (!begin) await findById();
  for await (const [name, of, first] of positions()) {
    let inner = first;
    do {
      if (tasks.length >= size || pages >= MOST_PAGES) return result([name, of, inner]);
      pages++;
      inner = await searchAt([name, of, inner]);
    } while (inner !== "");
  }
  return result();

  async function findById(): Promise<void> {
    for (const slice of ID.test(text) ? slicesOf(names, SLICE) : []) {
      for (const name of await queuesWithTask(transport, slice, text, counting)) {
        const task = await open(name).get(text);
        if (task && searched.includes(searchedOf(task))) tasks.push({ ...task, found: "id" });
      }
    }
  }

  /** Where the search goes: the states of each queue that may have tasks. */
  async function* positions(): AsyncGenerator<Position> {
    const rest = begin ? names.filter((name) => name >= begin[0]) : names;
    for (const slice of slicesOf(rest, SLICE)) {
      for (const counts of await countQueues(transport, slice, counting)) {
        if ("code" in counts) {
          failed.push(counts);
          continue;
        }
        seen.add(counts.queue);
        const [, first, inner] = begin?.[0] === counts.queue ? begin : [];
        const from = first ? searched.indexOf(first) : 0;
        for (const of of searched.slice(Math.max(0, from)))
          if (mayHave(counts, of)) yield [counts.queue, of, (of === first && inner) || ""];
      }
    }
  }

  /** @returns the cursor there; empty if nothing is left */
  async function searchAt([name, of, inner]: Position): Promise<string> {
    try {
      const cursor = inner === "" ? undefined : inner;
      const page = await open(name).search({ text, of, size: size - tasks.length, cursor, signal });
      // That task was found by its id.
      tasks.push(...page.tasks.filter(({ id }) => id !== text));
      looked += page.looked;
      unsearched += page.unsearched;
      return page.cursor ?? "";
    } catch (error) {
      if (!(error instanceof SluiceError) || error.code !== "newer_schema") throw error;
      failed.push({ queue: name, code: error.code });
      return "";
    }
  }
}

/** Ended tasks that are no dead letters are not counted. */
const mayHave = (counts: QueueCounts, of: Searched) =>
  of === "completed" || of === "cancelled" || counts[of] > 0;

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
