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

/** The first bytes of a body. */
export function startOf(chunks: readonly Uint8Array[], maxBody: number): Uint8Array<ArrayBuffer> {
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  const start = new Uint8Array(Math.min(size, maxBody));
  let at = 0;
  for (const chunk of chunks) {
    start.set(chunk.subarray(0, start.length - at), at);
    at = Math.min(at + chunk.length, start.length);
  }
  return start;
}

/** A body as text. A character that was cut is left out. */
export const textOf = (bytes: Uint8Array, truncated: boolean): string =>
  new TextDecoder().decode(bytes, { stream: truncated });
