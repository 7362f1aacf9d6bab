import { listedHeaders } from "./failed-delivery.ts";
import type { Message } from "./message.ts";

const REDACTED = "REDACTED";

/** A message as lists, logs and dead letters of QStash show it; without its id. */
export function shownMessage(message: Message, createdAt: number) {
  const { callback, failureCallback, labels, flowControl, body, isBase64 } = message;
  return {
    topicName: message.topicName,
    url: message.url,
    endpointName: message.endpointName,
    method: message.method ?? "POST",
    header: shownHeaders(message),
    ...(body !== undefined && {
      [isBase64 ? "bodyBase64" : "body"]: hides(message, "body") ? REDACTED : body,
    }),
    maxRetries: message.retries,
    retryDelayExpression: message.retryDelay,
    notBefore: message.notBefore ?? createdAt,
    createdAt,
    callback: callback?.url,
    failureCallback: failureCallback?.url,
    queueName: message.queueName,
    scheduleId: message.scheduleId,
    callerIP: message.callerIp,
    callerIp: message.callerIp,
    flowControlKey: flowControl?.key,
    parallelism: flowControl?.parallelism,
    rate: flowControl?.rate,
    period: flowControl?.period,
    label: labels?.[0],
    labels,
    timeout: message.timeout,
  };
}

function shownHeaders(message: Message): Record<string, readonly string[]> {
  const all = Object.entries(listedHeaders(new Headers(message.headers)));
  const shown = ([name, values]: (typeof all)[number]) =>
    [name, hides(message, "header", name) ? [REDACTED] : values] as const;
  return Object.fromEntries(all.map(shown));
}

/** Whether `Upstash-Redact-Fields` of a message names its body, its headers, or one of these. */
function hides({ redact = [] }: Message, field: "body" | "header", name = ""): boolean {
  return redact.some((one) => {
    const lower = one.toLowerCase();
    return lower === field || (name !== "" && lower === `${field}[${name}]`);
  });
}
