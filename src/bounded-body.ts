export interface BodyBounds {
  /** The largest body, in bytes. */
  readonly limit: number;
  /** How long the whole body may take to arrive, ms. */
  readonly within: number;
}

/** Why a body was not read: it is over the limit, did not arrive in time, or broke off. */
export type BodyFault = "too_large" | "too_slow" | "broken";

/**
 * Longest body that is read at once, in bytes. Such a body needs no more memory than the largest one, even in
 * the smallest chunks.
 */
const AT_ONCE = 65_536;

const enforced = new WeakSet<Request>();

/**
 * Marks a request whose server passes on no more of the body than `Content-Length` says, as servers do that
 * read from a connection. A short body is then read at once, not as a stream.
 */
export function markLengthEnforced(request: Request): void {
  enforced.add(request);
}

/**
 * Reads the body of a request within bounds, with or without a `Content-Length`. It stops reading beyond the
 * bounds, and uses at most twice the limit in memory, even if the body arrives in small chunks.
 * @returns the bytes, or why they were not read
 */
export async function readBounded(
  request: Request,
  { limit, within }: BodyBounds,
): Promise<Uint8Array | BodyFault> {
  const length = request.headers.get("content-length");
  if (Number(length) > limit) return "too_large";
  // Only the current read is given up: one promise for all reads would keep each of them in memory.
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
    // Has no effect on a body that was read to its end. Not awaited: a stalled source may never finish it.
    void reader.cancel().catch(() => {});
  }
}
