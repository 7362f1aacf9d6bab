/** The logs of QStash, made of what the records of tasks say of their past. */
import { toBase64 } from "../../base64.ts";
import type { ListedTask } from "../../operate/list-tasks.ts";
import { bytesOf } from "../body.ts";
import { type Delivery, failedDeliveryOf } from "../deliver/outcomes.ts";
import { type Message, messageId, type Publication } from "../message.ts";
import { shownRequest } from "./shown.ts";

export const LOG_STATES = [
  "CREATED",
  "ACTIVE",
  "RETRY",
  "ERROR",
  "DELIVERED",
  "FAILED",
  "CANCEL_REQUESTED",
  "CANCELED",
] as const;

type LogState = (typeof LOG_STATES)[number];

/** Something that has happened to a message. */
interface LogEvent {
  /** Epoch ms. */
  readonly time: number;
  readonly state: LogState;
  readonly error?: string | undefined;
  readonly nextDeliveryTime?: number | undefined;
  readonly responseStatus?: number | undefined;
  /** As base64. */
  readonly responseBody?: string | undefined;
  readonly responseHeaders?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A message with what has happened to it. */
export interface LoggedMessage {
  readonly messageId: string;
  /** Only the URL of a message that was cancelled is unknown: it is empty. */
  readonly message: Message;
  /** The first one first. */
  readonly events: readonly LogEvent[];
}

/** The log of a task; undefined if it is no message, as the one of a schedule that publishes. */
export function loggedMessage(queue: string, task: ListedTask): LoggedMessage | undefined {
  const message = messageOf(task);
  return message && { messageId: messageId({ queue, id: task.id }), message, events: eventsOf(task) };
}

function messageOf({ state, reason, payload, result }: ListedTask): Message | undefined {
  // Of a cancelled task only its id is kept.
  if (state === "rejected" && reason === "cancelled") return { url: "", retries: 0 };
  const kept =
    state === "completed"
      ? (Object(result) as Partial<Delivery>).message
      : (payload as Message | Publication);
  return kept && "url" in kept ? kept : undefined;
}

function eventsOf(task: ListedTask): LogEvent[] {
  const { enqueuedAt, transitions, errors, state, dueAt, error } = task;
  const events: LogEvent[] = [{ time: enqueuedAt, state: "CREATED" }];
  for (const { to, at: time } of transitions) {
    const failed = errors.find(({ at }) => at === time);
    const isWaiting = to === "pending" || to === "delayed";
    if (failed && (isWaiting || to === "rejected"))
      events.push({ time, state: "ERROR", error: String(failed.error ?? "the delivery was interrupted") });
    if (isWaiting) events.push({ time, state: "RETRY" });
    else if (to === "working") events.push({ time, state: "ACTIVE" });
    else if (to === "completed") events.push({ time, state: "DELIVERED" });
    else if (to === "cancelRequested") events.push({ time, state: "CANCEL_REQUESTED" });
    else if (to === "rejected")
      events.push({ time, state: task.reason === "cancelled" ? "CANCELED" : "FAILED" });
  }
  const last = events.pop() as LogEvent;
  const waits = state === "delayed" && last.state === "RETRY";
  events.push(waits ? { ...last, nextDeliveryTime: dueAt } : last);
  return withResponse(events, error);
}

/** Only the last error is kept with its response. */
function withResponse(events: readonly LogEvent[], error: unknown): LogEvent[] {
  const { responseStatus, responseBody, responseHeader } = failedDeliveryOf(error) ?? {};
  const last = events.findLastIndex(({ state }) => state === "ERROR");
  return events.map((event, i) => {
    if (i !== last || responseStatus === undefined) return event;
    const body = responseBody === undefined ? undefined : toBase64(new TextEncoder().encode(responseBody));
    return { ...event, responseStatus, responseBody: body, responseHeaders: responseHeader };
  });
}

/** What all entries of a message have in a log of QStash. */
export async function shownLogged({ messageId: id, message }: LoggedMessage) {
  const { body, bodyBase64, ...shown } = await shownRequest(message);
  const bytes = body === undefined ? undefined : bytesOf({ body });
  return { ...shown, messageId: id, body: bodyBase64 ?? (bytes && toBase64(bytes)) };
}
