import { byteLength } from "../../kernel/record/byte-length.ts";
import { MAX_ERROR_BYTES } from "../../kernel/options/limits.ts";
import type { Callback, Message } from "../message.ts";

/** A delivery that has failed: the error of its task, as `get` and dead letters have it. */
export interface FailedDelivery {
  /** `NonRetryableError` makes the task a dead letter at once. */
  readonly name: "FailedDelivery" | "NonRetryableError";
  readonly message: string;
  /** Of the response; absent if there was none. */
  readonly responseStatus?: number;
  readonly responseHeader?: Readonly<Record<string, readonly string[]>>;
  /** The start of its body. */
  readonly responseBody?: string;
}

/** What is kept of a message that was delivered: the result of its task, of which logs are made. */
export interface Delivery {
  /** Of the response. */
  readonly status: number;
  /** Without its body and its headers. */
  readonly message: Message;
}

export function deliveryOf(status: number, message: Message): Delivery {
  const { body: _, isBase64: __, headers: ___, callback, failureCallback, ...rest } = message;
  const urlOf = (its: Callback | undefined) => its && { url: its.url, headers: {} };
  const kept = { ...rest, callback: urlOf(callback), failureCallback: urlOf(failureCallback) };
  return { status, message: JSON.parse(JSON.stringify(kept)) as Message };
}

/** The error as it can be stored: with as much of the response as has room. */
export function storable(failed: FailedDelivery): FailedDelivery {
  let { responseBody = "", ...rest } = failed;
  if (sizeOf(rest) > MAX_ERROR_BYTES / 2) rest = { ...rest, responseHeader: {} };
  const sized = () => ({ ...rest, ...(responseBody !== "" && { responseBody }) });
  while (responseBody !== "" && sizeOf(sized()) > MAX_ERROR_BYTES)
    responseBody = responseBody.slice(0, responseBody.length >> 1);
  return sized();
}

const sizeOf = (value: object) => byteLength(JSON.stringify(value));

/** The failed delivery that is the error of a task; undefined if it is another error. */
export function failedDeliveryOf(error: unknown): FailedDelivery | undefined {
  const { message } = Object(error) as { readonly message?: unknown };
  return typeof message === "string" ? (error as FailedDelivery) : undefined;
}

/** Headers as QStash shows them. */
export function listedHeaders(headers: Headers): Record<string, string[]> {
  // Receivers choose the names, which may be those of properties of all objects.
  const all = new Map<string, string[]>();
  for (const [name, value] of headers) all.set(name, [...(all.get(name) ?? []), value]);
  return Object.fromEntries(all);
}
