/** Messages as QStash shows them. */
import { bytesOf } from "../body.ts";
import type { Message } from "../message.ts";

/** What QStash shows of a message, without what became of it. Fields that are redacted show a digest of their values. */
export async function shownRequest(message: Message) {
  const { redact = [], labels, flowControl, callerIp } = message;
  const isBinary = message.isBase64 === true;
  const body =
    message.body !== undefined && redact.includes("body") ? await redacted(bytesOf(message)) : message.body;
  return {
    url: message.url,
    topicName: message.topicName,
    endpointName: message.endpointName,
    method: message.method ?? "POST",
    header: await shownHeaders(message),
    body: isBinary ? undefined : body,
    bodyBase64: isBinary ? body : undefined,
    maxRetries: message.retries,
    retryDelayExpression: message.retryDelay,
    timeout: message.timeout,
    notBefore: message.notBefore,
    callback: message.callback?.url,
    failureCallback: message.failureCallback?.url,
    queueName: message.queueName,
    scheduleId: message.scheduleId,
    // The documentation has the first name, the types of the client the second.
    callerIP: callerIp,
    callerIp,
    flowControlKey: flowControl?.key,
    parallelism: flowControl?.parallelism,
    rate: flowControl?.rate,
    period: flowControl?.period,
    label: labels?.[0],
    labels,
  };
}

async function shownHeaders({ headers = {}, redact = [] }: Message): Promise<Record<string, string[]>> {
  const shown = Object.entries(headers).map(async ([name, value]): Promise<[string, string[]]> => {
    const isHidden = ["header", "headers", `header[${name}]`].some((field) => redact.includes(field));
    return [name, [isHidden ? await redacted(new TextEncoder().encode(value)) : value]];
  });
  return Object.fromEntries(await Promise.all(shown));
}

async function redacted(value: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", value));
  return `REDACTED:${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
