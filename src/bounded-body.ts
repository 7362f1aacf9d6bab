import { sleep } from "./sleep.ts";

export interface BodyBounds {
  /** The most bytes that are taken. */
  readonly limit: number;
  /** How long all of it may take to come, ms. */
  readonly within: number;
}

/** Why a body was not read: it is over the limit, did not come in time, or broke off. */
export type BodyFault = "too_large" | "too_slow" | "broken";

/**
 * The bytes of a request's body, whether or not it says its length before. Beyond the bounds nothing more is read, and what
 * is held is twice the limit at most, in however small pieces it comes.
 */
export async function readBounded(
  request: Request,
  { limit, within }: BodyBounds,
): Promise<Uint8Array | BodyFault> {
  if (Number(request.headers.get("content-length")) > limit) return "too_large";
  if (!request.body) return new Uint8Array();

  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader();
  const ended = new AbortController();
  // One wait at a time hears of it: a promise for all of them would hold on to each until it settles.
  let giveUp = () => {};
  void sleep(within, ended.signal).then(() => giveUp());
  const next = () =>
    new Promise<Awaited<ReturnType<typeof reader.read>> | BodyFault>((resolve) => {
      giveUp = () => resolve("too_slow");
      reader.read().then(resolve, () => resolve("broken"));
    });

  let bytes = new Uint8Array();
  let size = 0;
  try {
    for (;;) {
      const read = await next();
      if (typeof read === "string") return read;
      if (read.done) return bytes.subarray(0, size);
      const { length } = read.value;
      if (size + length > limit) return "too_large";
      if (size + length > bytes.length) {
        const larger = new Uint8Array(Math.min(limit, Math.max(2 * bytes.length, size + length)));
        larger.set(bytes.subarray(0, size));
        bytes = larger;
      }
      bytes.set(read.value, size);
      size += length;
    }
  } finally {
    ended.abort();
    // Of what has been read to its end this does nothing. Not awaited: a source that stalls may not answer to this either.
    void reader.cancel().catch(() => {});
  }
}
