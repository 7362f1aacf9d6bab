export interface BodyBounds {
  /** The largest body, in bytes. */
  readonly limit: number;
  /** How long the whole body may take to arrive, ms. */
  readonly within: number;
}

/** Why a body was not read: it is over the limit, did not arrive in time, or the connection broke. */
export type BodyFault = "too_large" | "too_slow" | "broken";

/** The longest body that is read in one call, in bytes. Even in the smallest chunks it uses little memory. */
const AT_ONCE = 65_536;

const enforced = new WeakSet<Request>();

/**
 * Notes that the server enforces the request's `Content-Length`, as a server does that reads from a connection. A short
 * body is then read in one call, not as a stream.
 */
export function lengthIsEnforced(request: Request): void {
  enforced.add(request);
}

/**
 * Reads the body of a request, with or without a `Content-Length`. It stops at the bounds, and uses at most twice the limit
 * in memory, however small the chunks are.
 */
export async function readBounded(
  request: Request,
  { limit, within }: BodyBounds,
): Promise<Uint8Array | BodyFault> {
  const length = request.headers.get("content-length");
  if (Number(length) > limit) return "too_large";
  // Only the current read listens. One promise for all reads would keep each of them in memory until it settles.
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
    // Does nothing after the end of the body. Not awaited: a stalled source may never respond.
    void reader.cancel().catch(() => {});
  }
}
