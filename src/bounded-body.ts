export interface BodyBounds {
  /** The most bytes that are taken. */
  readonly limit: number;
  /** How long all of it may take to come, ms. */
  readonly within: number;
}

/** Why a body was not read: it is over the limit, did not come in time, or broke off. */
export type BodyFault = "too_large" | "too_slow" | "broken";

/** Longest body that is read at once, in bytes: in the smallest pieces it holds no more than the longest of all does. */
const AT_ONCE = 65_536;

const enforced = new WeakSet<Request>();

/**
 * Notes that this request's server gives no more of its body than `Content-Length` says, as a server does that reads it
 * from a connection. A short body is then read at once, not as a stream.
 */
export function lengthIsEnforced(request: Request): void {
  enforced.add(request);
}

/**
 * The bytes of a request's body, whether or not it says its length before. Beyond the bounds nothing more is read, and what
 * is held is twice the limit at most, in however small pieces it comes.
 */
export async function readBounded(
  request: Request,
  { limit, within }: BodyBounds,
): Promise<Uint8Array | BodyFault> {
  const length = request.headers.get("content-length");
  if (Number(length) > limit) return "too_large";
  // One wait at a time hears of it: a promise for all of them would hold on to each until it settles.
  let giveUp = () => {};
  const timer = setTimeout(() => giveUp(), within);
  const bounded = <Result>(reading: Promise<Result>) =>
    new Promise<Result | BodyFault>((resolve) => {
      giveUp = () => resolve("too_slow");
      reading.then(resolve, () => resolve("broken"));
    });
  try {
    if (length !== null && Number(length) <= AT_ONCE && enforced.has(request)) {
      const read = await bounded(request.arrayBuffer());
      return typeof read === "string" ? read : new Uint8Array(read);
    }
    return await readStream(request.body, limit, bounded);
  } finally {
    clearTimeout(timer);
  }
}

async function readStream(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
  bounded: <Result>(reading: Promise<Result>) => Promise<Result | BodyFault>,
): Promise<Uint8Array | BodyFault> {
  if (!body) return new Uint8Array();
  const reader = body.getReader();
  let bytes = new Uint8Array();
  let size = 0;
  try {
    for (;;) {
      const read = await bounded(reader.read());
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
    // Of what has been read to its end this does nothing. Not awaited: a source that stalls may not answer to this either.
    void reader.cancel().catch(() => {});
  }
}
