import { sleep } from "../../sleep.ts";
import { respond } from "../../respond.ts";
import type { RequestContext, Services } from "../services.ts";
import { problemBody } from "../problems/problem.ts";

/**
 * How long a stream stays silent before it sends a comment, ms. The comment keeps proxies from closing the
 * connection, and reveals that a client is gone: workerd notices it only on a write.
 */
const KEEP_ALIVE = 3_000;

/** How long a browser waits before it reconnects after the end of a stream, ms. */
const RECONNECT_AFTER = 1_000;

/** The beginning of every stream. */
export const STREAM_HEAD = `retry: ${RECONNECT_AFTER}\n\n`;

/** One server-sent event, with `data` as JSON. */
export interface Frame {
  readonly event: string;
  /** A client that reconnects sends it as `Last-Event-ID`. */
  readonly id?: number | undefined;
  readonly data: unknown;
}

export interface EventStream {
  /** How long the stream lasts, ms. Then the client reconnects. */
  readonly lasts: number;
  /** Opens the source. It ends when the signal aborts, because the client is gone or the time is over. */
  readonly open: (signal: AbortSignal) => AsyncIterable<Frame> | Promise<AsyncIterable<Frame>>;
}

/** Whether the caller asks for an event stream. */
export function wantsEvents(c: RequestContext): boolean {
  return /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(c.req.header("accept") ?? "");
}

/** The version in the `Last-Event-ID` header; undefined if the header is missing or not a number. */
export function lastEventId(c: RequestContext): number | undefined {
  const id = c.req.header("last-event-id") ?? "";
  return /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}

/**
 * Responds with server-sent events. Draws from the source only as fast as the client reads. An error during
 * the stream is sent as the event `problem` and ends the stream.
 */
export async function eventStream(
  c: RequestContext,
  { reportedProblem }: Pick<Services, "reportedProblem">,
  { lasts, open }: EventStream,
): Promise<Response> {
  // Proxies and middleware that compress would hold events back.
  const head = { "content-type": "text/event-stream", "cache-control": "no-store, no-transform" };
  if (c.req.method === "HEAD") return respond(null, 200, head);
  const ending = new AbortController();
  const end = () => ending.abort();
  c.req.raw.signal.addEventListener("abort", end);
  let over: ReturnType<typeof setTimeout> | undefined;
  const clear = () => {
    clearTimeout(over);
    c.req.raw.signal.removeEventListener("abort", end);
    end();
  };
  let frames: AsyncIterator<Frame>;
  try {
    frames = (await open(ending.signal))[Symbol.asyncIterator]();
  } catch (error) {
    clear();
    throw error;
  }
  // Starts after opening: a short time must not end a source that is still opening.
  over = setTimeout(end, lasts);

  let next: Promise<IteratorResult<Frame>> | undefined;
  const draw = async (): Promise<{ text: string; last?: true }> => {
    const waiting = new AbortController();
    try {
      next ??= frames.next();
      const drawn = await Promise.race([next, sleep(KEEP_ALIVE, waiting.signal)]);
      if (!drawn) return { text: ":\n\n" };
      next = undefined;
      return drawn.done ? { text: "", last: true } : { text: frameText(drawn.value) };
    } catch (error) {
      const data = problemBody(reportedProblem(error, c));
      return { text: frameText({ event: "problem", data }), last: true };
    } finally {
      waiting.abort();
    }
  };

  const encoder = new TextEncoder();
  let left = false;
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start: (controller) => controller.enqueue(encoder.encode(STREAM_HEAD)),
    async pull(controller) {
      const { text, last } = await draw();
      if (left) return;
      if (text !== "") controller.enqueue(encoder.encode(text));
      if (!last) return;
      clear();
      controller.close();
    },
    cancel() {
      left = true;
      clear();
    },
  };
  // Draws nothing before the client reads.
  return respond(new ReadableStream(source, { highWaterMark: 0 }), 200, head);
}

/** The text of one event. JSON has no line breaks. */
export function frameText({ event, id, data }: Frame): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
