/** The messages that are not delivered yet, in pages. */
import type { ListedTask } from "../operate/list-tasks.ts";
import { operatorOf } from "../open/operator.ts";
import { badRequest } from "./failure.ts";
import type { Filtered } from "./filters.ts";
import { type Message, messageId, messages, ordered } from "./message.ts";
import type { Session } from "./session.ts";

const STATES = ["working", "pending", "delayed"] as const;

/** Where pages are read from, one place after the other. */
const PLACES = [messages, ordered].flatMap((queue) => STATES.map((state) => ({ queue, state })));

/** A message, and the id of its task. */
export interface LiveMessage extends Filtered {
  readonly id: string;
}

/** Messages of one queue. */
export interface LivePage {
  readonly queue: typeof messages;
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
  cursor = "0:",
): AsyncGenerator<LivePage, void, undefined> {
  const [, start = "", at = ""] = /^(\d):(.*)$/s.exec(cursor) ?? [];
  let next: string | undefined = at || undefined;
  if (!PLACES[Number(start || "x")]) throw badRequest("invalid cursor");
  for (const [i, { queue, state }] of PLACES.entries()) {
    if (i < Number(start)) continue;
    const operator = operatorOf(session.open(queue));
    for (;;) {
      const page = await operator.list({ state, payloads: true, size, cursor: next });
      next = page.cursor ?? undefined;
      const isLast = i === PLACES.length - 1 && next === undefined;
      const after = next === undefined ? `${i + 1}:` : `${i}:${next}`;
      yield {
        queue,
        live: page.tasks.flatMap((task) => liveMessage(queue.name, task) ?? []),
        cursor: isLast ? undefined : after,
      };
      if (next === undefined) break;
    }
  }
}

/** The message of a task; undefined if it is none, as of a schedule that publishes. */
function liveMessage(queue: string, { id, payload, enqueuedAt }: ListedTask): LiveMessage | undefined {
  const message = payload as Partial<Message> | undefined;
  if (message?.url === undefined) return undefined;
  return { id, message: message as Message, createdAt: enqueuedAt, messageId: messageId({ queue, id }) };
}
