import { toBase64 } from "../../base64.ts";
import type { Task } from "../../drain/types.ts";
import { bytesOf } from "../body.ts";
import { isLasting } from "../failure.ts";
import { listedHeaders } from "./outcomes.ts";
import { type Callback, type Message, messageId } from "../message.ts";
import { publish } from "../publish/requests.ts";
import type { Session } from "../session.ts";

/** What callbacks report of an attempt. */
export interface Attempted {
  readonly task: Pick<Task, "id" | "enqueuedAt" | "attempt">;
  /** The queue of the message. */
  readonly queue: string;
  readonly message: Message;
  readonly retried: number;
  /** The status of the response; 0 if there was none. */
  readonly status: number;
  readonly headers: Headers;
  /** The body of the response, or why there was none. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Longest body of the message itself that callbacks carry, bytes. */
const MOST_SOURCE = 262_144;

/**
 * Publishes the callback of an attempt. A repeat of it adds nothing.
 * @param isFailure whether it is the failure callback, which says that there is no further attempt
 */
export async function callBack(
  session: Session,
  callback: Callback | undefined,
  attempted: Attempted,
  isFailure: boolean,
): Promise<void> {
  if (!callback) return;
  const { task, message } = attempted;
  const headers = {
    "upstash-retries": String(message.retries),
    ...callback.headers,
    "content-type": "application/json",
  };
  const id = `${task.id}.${isFailure ? "failure" : "callback"}${task.attempt}`;
  const body = JSON.stringify(callbackBody(attempted, isFailure));
  try {
    await publish(session, [{ destination: callback.url, headers, body, id }]);
  } catch (error) {
    // It can never be published: its URL, which was allowed, no longer is, or it is too large. The message has its
    // outcome anyway, and another attempt would change nothing.
    if (!isLasting(error)) throw error;
  }
}

/** The body of a callback, as QStash writes it. */
function callbackBody(
  { task, queue, message, retried, status, headers, bytes }: Attempted,
  isFailure: boolean,
) {
  const source = bytesOf(message);
  const sourceMessageId = messageId({ queue, id: task.id });
  return {
    status,
    header: listedHeaders(headers),
    body: toBase64(bytes),
    retried,
    maxRetries: message.retries,
    sourceMessageId,
    topicName: message.topicName,
    endpointName: message.endpointName,
    url: message.url,
    method: message.method ?? "POST",
    sourceHeader: listedHeaders(new Headers(message.headers)),
    sourceBody: source.length > MOST_SOURCE ? undefined : toBase64(source),
    notBefore: String(message.notBefore ?? task.enqueuedAt),
    createdAt: String(task.enqueuedAt),
    scheduleId: message.scheduleId,
    callerIP: message.callerIp,
    ...(isFailure && { dlqId: sourceMessageId }),
  };
}
