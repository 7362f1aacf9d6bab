import type { TaskReply } from "../client/types.ts";
import { shownReason } from "../kernel/errors/reason-text.ts";
import { queueName, taskId } from "../kernel/options/validation.ts";
import type { ListedTask, ListTasksOptions } from "../operate/list-tasks.ts";
import { counted } from "../counted.ts";
import { errorLine } from "./output/printable.ts";
import type { Session } from "./session.ts";

/** A task of a list or alone, as the HTTP interface returns it. */
export type ShownTask = ListedTask & TaskReply;

interface Page {
  readonly tasks: readonly ShownTask[];
  readonly unreadable: number;
}

/** Tasks in one state, page by page. If records cannot be read, it says so at the end, and the exit code is 1. */
export async function* tasksOf(
  { api, out, fail }: Session,
  queue: string,
  options: Omit<ListTasksOptions, "cursor" | "signal">,
): AsyncGenerator<ShownTask, void> {
  const { reason, maxBytes: _, ...query } = options;
  const reasons = reason === undefined ? undefined : [reason].flat().join(",");
  const pages = api.pages<Page>(pathOf(queue, "tasks"), "tasks", { ...query, reason: reasons });
  let unreadable = 0;
  try {
    for await (const page of pages) {
      unreadable += page.unreadable;
      yield* page.tasks;
    }
  } finally {
    // Also if the caller has enough.
    if (unreadable > 0) {
      out.note(
        `${counted(unreadable, "task")} cannot be read: update sluice-queue, or run sluice doctor --repair.`,
      );
      fail();
    }
  }
}

/** The error of a task in one line: its own, or the text of why it was rejected or waits again. */
export function errorOf(task: ShownTask): string {
  return shownReason(task) ?? errorLine(task.error);
}

/** The state of a task in one word. */
export const stateOf = ({ state, reason }: Pick<ShownTask, "state" | "reason">): string =>
  reason === "cancelled" ? reason : state;

/** Since when the task is in its state, epoch ms. */
export function changedAt({ transitions, enqueuedAt }: ShownTask): number {
  return transitions.at(-1)?.at ?? enqueuedAt;
}

/** The first `most` items. */
export async function* atMost<T>(most: number, items: AsyncIterable<T>): AsyncGenerator<T, void> {
  if (most <= 0) return;
  let taken = 0;
  for await (const item of items) {
    yield item;
    if (++taken >= most) return;
  }
}

/** All items, in a list. */
export async function listFrom<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/**
 * The path of a queue, or of something in it. The names are checked here, because `..` would lead to another path.
 * @param at parts such as `workers`, and names in them
 * @throws {SluiceError} `invalid_argument`
 */
export function pathOf(queue: string, ...at: readonly (string | Named)[]): string {
  const parts = at.map((part) =>
    typeof part === "string" ? part : encodeURIComponent(taskId(part.name, part.of)),
  );
  return ["/v1/queues", queueName(queue, "<queue>"), ...parts].join("/");
}

/** The name of something in a queue. Tasks, groups, workers and schedules are named alike. */
interface Named {
  readonly name: string;
  /** What has the name, for the error: an option or argument. */
  readonly of: string;
}
