/**
 * Lets an event stream end when the server closes. Its reader connects again, to another server; and this one need not
 * wait until the stream is over.
 */
export function untilClosing(closing: AbortSignal, response: Response): Response {
  const { body, status, headers } = response;
  if (headers.get("content-type") !== "text/event-stream" || body === null) return response;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const piped = body.pipeTo(writable, { signal: closing, preventAbort: true });
  // Has no effect if the reader has left.
  piped.catch(() => writable.close().catch(() => {}));
  return new Response(readable, { status, headers });
}
