import type { ListedTask, ListTasksOptions } from "../queue/operate/task-operator.ts";
import type { Api } from "./connection/api.ts";

/** A task as the HTTP interface returns it: bytes are in base64, with an encoding beside them. */
export type ShownTask = ListedTask & {
  readonly payloadEncoding?: "base64";
  readonly encoding?: "base64";
  readonly errorEncoding?: "base64";
};

interface Page {
  readonly tasks: readonly ShownTask[];
  readonly cursor: string | null;
  readonly unreadable: number;
}

/** Tasks in one state, page by page. */
export async function* tasksOf(
  api: Api,
  queue: string,
  options: Omit<ListTasksOptions, "cursor" | "signal">,
): AsyncGenerator<ShownTask, void> {
  const { reason, maxBytes: _, ...query } = options;
  let cursor: string | undefined;
  do {
    const page: Page = await api.get(`${pathOf(queue)}/tasks`, "tasks", {
      ...query,
      reason: reason === undefined ? undefined : [reason].flat().join(","),
      cursor,
    });
    yield* page.tasks;
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
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

/** The path of a queue. The server checks the name. */
export function pathOf(queue: string): string {
  return `/v1/queues/${encodeURIComponent(queue)}`;
}
