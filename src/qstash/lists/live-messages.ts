/** The messages that are not delivered yet, in pages. */
import type { ListedTask } from "../../operate/list-tasks.ts";
import type { Filtered } from "./filters.ts";
import { type Message, messageId } from "../message.ts";
import type { Session } from "../session.ts";
import { listsOf, taskPages } from "./task-pages.ts";

/** The lists that have them. */
export const LIVE = [{ state: "working" }, { state: "pending" }, { state: "delayed" }] as const;

/** A message, and the id of its task. */
export interface LiveMessage extends Filtered {
  readonly id: string;
}

/** Messages of one queue. */
export interface LivePage {
  readonly queue: string;
  readonly live: readonly LiveMessage[];
  /** Of the page after it; undefined after the last. */
  readonly cursor: string | undefined;
}

/**
 * Reads pages of messages, until there is none or the caller stops.
 * @param cursor of an earlier page
 * @throws {Failure} 400 for an invalid cursor
 */
export async function* livePages(
  session: Session,
  size: number,
  cursor?: string,
): AsyncGenerator<LivePage, void, undefined> {
  for await (const { queue, tasks, cursor: after } of taskPages(session, listsOf(...LIVE), { size, cursor }))
    yield { queue, live: tasks.flatMap((task) => liveMessage(queue, task) ?? []), cursor: after };
}

/** The message of a task; undefined if it is none, as of a schedule that publishes. */
function liveMessage(queue: string, { id, payload, enqueuedAt }: ListedTask): LiveMessage | undefined {
  const message = payload as Partial<Message> | undefined;
  if (message?.url === undefined) return undefined;
  return { id, message: message as Message, createdAt: enqueuedAt, messageId: messageId({ queue, id }) };
}
