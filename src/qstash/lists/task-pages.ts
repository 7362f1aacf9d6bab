/** The tasks of messages, in pages: one list after the other. */
import type { TaskState } from "../../kernel/options/types.ts";
import type { ListedTask, ListTasksOptions } from "../../operate/list-tasks.ts";
import { operatorOf } from "../../open/operator.ts";
import { badRequest } from "../failure.ts";
import { messages, ordered } from "../message.ts";
import type { Session } from "../session.ts";

/** A list of tasks. */
export interface TaskList {
  readonly queue: typeof messages;
  readonly state: TaskState;
  readonly reason?: "cancelled" | undefined;
}

/** The lists of both queues in certain states. */
export const listsOf = (...states: readonly Omit<TaskList, "queue">[]): readonly TaskList[] =>
  [messages, ordered].flatMap((queue) => states.map((list) => ({ queue, ...list })));

/** Tasks of one list. */
export interface TaskPage {
  readonly queue: string;
  readonly tasks: readonly ListedTask[];
  /** Of the page after it; undefined after the last. */
  readonly cursor: string | undefined;
}

/**
 * Reads pages of tasks, until there is none or the caller stops.
 * @param cursor of an earlier page of the same lists
 * @throws {Failure} 400 for an invalid cursor
 */
export async function* taskPages(
  session: Session,
  lists: readonly TaskList[],
  {
    cursor = "0:",
    ...options
  }: Pick<ListTasksOptions, "size" | "reverse"> & { readonly cursor?: string | undefined },
): AsyncGenerator<TaskPage, void, undefined> {
  const [, start = "", at = ""] = /^(\d{1,2}):(.*)$/s.exec(cursor) ?? [];
  if (!lists[Number(start || "x")]) throw badRequest("invalid cursor");
  let next: string | undefined = at || undefined;
  for (const [i, { queue, ...list }] of lists.entries()) {
    if (i < Number(start)) continue;
    const operator = operatorOf(session.open(queue));
    for (;;) {
      const page = await operator.list({ ...options, ...list, payloads: true, cursor: next });
      next = page.cursor ?? undefined;
      const isLast = i === lists.length - 1 && next === undefined;
      const after = next === undefined ? `${i + 1}:` : `${i}:${next}`;
      yield { queue: queue.name, tasks: page.tasks, cursor: isLast ? undefined : after };
      if (next === undefined) break;
    }
  }
}
