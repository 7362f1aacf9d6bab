import { NonRetryableError, RetryAfter } from "../../drain/failures.ts";
import type { Task } from "../../drain/types.ts";
import { messageOf, SluiceError } from "../../errors.ts";
import { type Delivered, DeliveryError, sendTo } from "../../features/push/index.ts";
import { readReceipt } from "../../kernel/names/receipt.ts";
import { bytesOf } from "../body.ts";
import { callBack } from "./callbacks.ts";
import { isLasting } from "../failure.ts";
import { keepLimits } from "../flow-control/limits.ts";
import { deliveryOf, type FailedDelivery, listedHeaders, storable } from "./outcomes.ts";
import { dueId, type Message, messageId, type Publication } from "../message.ts";
import { publish } from "../publish/requests.ts";
import { retryAfterOf } from "./retry-after.ts";
import { delayAfter } from "../publish/retry-delay.ts";
import type { Session } from "../session.ts";
import { signatureOf } from "./signature.ts";
import { policyOf } from "../target.ts";

/** Longest time of an attempt, ms. It is the default too: the time of the invocation or of the message is shorter. */
const LONGEST = 900_000;

/** The status with which a receiver asks for no further attempt. */
const NON_RETRYABLE = 489;

/** Bytes of a response that callbacks carry. */
const CARRIED = 262_144;

/** What an attempt leads to: a response, or why there was none. */
type Attempt = Delivered | { readonly fault: string; readonly isFinal: boolean };

/**
 * Works on one message: sends its request, and publishes its callbacks.
 * @param queue that has the message
 * @returns what is kept of a message that was delivered
 */
export async function deliver(
  task: Task<Message | Publication>,
  queue: string,
  session: Session,
): Promise<unknown> {
  const { payload } = task;
  if ("publish" in payload) {
    const { publish: due, scheduleId } = payload;
    try {
      return await publish(session, [{ ...due, scheduleId, id: dueId(task.id) }]);
    } catch (error) {
      // Such as a URL group that is gone.
      if (isLasting(error)) throw new NonRetryableError(messageOf(error));
      throw error;
    }
  }
  const retried = readReceipt(task.receipt, "receipt").charged - 1;
  const attempt = await send({ ...task, payload }, queue, retried, session);
  const response = "fault" in attempt ? withoutResponse(attempt.fault) : attempt;
  const attempted = { task, queue, message: payload, retried, ...response };
  await callBack(session, payload.callback, attempted, false);
  const { status, headers, body } = response;
  if (status >= 200 && status < 300) return deliveryOf(status, payload);

  const isFinal =
    "fault" in attempt
      ? attempt.isFinal
      : status === NON_RETRYABLE || headers.get("upstash-nonretryable-error")?.toLowerCase() === "true";
  if (isFinal || retried >= payload.retries)
    await callBack(session, payload.failureCallback, attempted, true);
  const failed: FailedDelivery = storable({
    name: isFinal ? "NonRetryableError" : "FailedDelivery",
    ...("fault" in attempt
      ? { message: attempt.fault }
      : {
          message: `the receiver answered ${status}`,
          responseStatus: status,
          responseHeader: listedHeaders(headers),
          responseBody: body,
        }),
  });
  if (payload.flowControl) await keepLimits(session, payload.flowControl);
  // Not an `Error`, of which only the message would be kept.
  // oxlint-disable-next-line typescript/only-throw-error
  if (isFinal) throw failed;
  throw new RetryAfter(retryAfterOf(headers) ?? delayAfter(payload.retryDelay, retried), { cause: failed });
}

const withoutResponse = (fault: string) => ({
  status: 0,
  headers: new Headers(),
  body: fault,
  bytes: new TextEncoder().encode(fault),
});

async function send(
  { id, payload, signal }: Task<Message>,
  queue: string,
  retried: number,
  { settings }: Session,
): Promise<Attempt> {
  const { url, method = "POST", scheduleId, topicName, callerIp, callback, failureCallback } = payload;
  const body = bytesOf(payload);
  const headers = {
    ...payload.headers,
    "user-agent": "Upstash-QStash",
    "upstash-message-id": messageId({ queue, id }),
    "upstash-retried": String(retried),
    "upstash-signature": await signatureOf(settings.signingKeys[0], url, body),
    ...(scheduleId !== undefined && { "upstash-schedule-id": scheduleId }),
    ...(topicName !== undefined && { "upstash-topic-name": topicName }),
    ...(callerIp !== undefined && { "upstash-caller-ip": callerIp }),
  };
  const request = {
    url,
    method,
    headers,
    body: body.length === 0 ? undefined : body,
    timeout: Math.min(payload.timeout ?? LONGEST, LONGEST),
    signal,
    ...((callback || failureCallback) && { maxBody: CARRIED }),
  };
  try {
    return await sendTo(request, policyOf(settings));
  } catch (error) {
    if (error instanceof DeliveryError) return { fault: error.message, isFinal: error.code === "refused" };
    // The URL was allowed when the message was published, and no longer is.
    if (error instanceof SluiceError && error.code === "invalid_argument")
      return { fault: error.message, isFinal: true };
    throw error;
  }
}
