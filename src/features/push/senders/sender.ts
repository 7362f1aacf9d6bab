import type { Delivered, UrlPolicy } from "../types.ts";

/** One request to a checked URL. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
  readonly policy: UrlPolicy;
  /** Bytes of the body that are kept. */
  readonly maxBody: number;
  /** How long the body may take, ms. */
  readonly bodyTime: number;
  /** Aborts when the time is over, or the caller has aborted. */
  readonly signal: AbortSignal;
}

/**
 * Sends one request, and follows no redirect.
 * @throws {DeliveryError} or what the signal aborts with
 */
export type Sender = (hop: Hop) => Promise<Delivered>;

/** The most bytes of the headers of a response. */
export const MOST_HEADERS = 16_384;

/** The first bytes of a body, as text. A character that was cut is left out. */
export function textOf(chunks: readonly Uint8Array[], truncated: boolean, maxBody: number): string {
  const decoder = new TextDecoder();
  let room = maxBody;
  let text = "";
  for (const chunk of chunks) {
    text += decoder.decode(chunk.subarray(0, room), { stream: true });
    room = Math.max(0, room - chunk.length);
  }
  return truncated ? text : text + decoder.decode();
}
