import { sleep } from "../../sleep.ts";
import { respond } from "./respond.ts";
import type { Call, Services } from "../request/context.ts";
import { problemBody } from "../problems/problem.ts";

/**
 * A comment goes out after so long without an event, ms. Nobody between then takes the stream for dead, and a client
 * that has gone is noticed: workerd does so only where it writes.
 */
const KEEP_ALIVE = 3_000;

/** When a browser connects again after the stream's end, ms. */
const RECONNECT_AFTER = 1_000;

/** What a stream begins with. */
export const STREAM_HEAD = `retry: ${RECONNECT_AFTER}\n\n`;

/** One server-sent event; `data` goes as JSON. */
export interface Frame {
  readonly event: string;
  /** What a client that connects again sends as `Last-Event-ID`. */
  readonly id?: number | undefined;
  readonly data: unknown;
}

export interface EventStream {
  /** After so long the stream ends, ms, and the client connects again. */
  readonly lasts: number;
  /** Opens the source, which ends when the signal aborts: when the client has gone, or the time is over. */
  readonly open: (signal: AbortSignal) => AsyncIterable<Frame> | Promise<AsyncIterable<Frame>>;
}

/** Whether the caller asks for an event stream. */
export function wantsEvents(c: Call): boolean {
  return /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(c.req.header("accept") ?? "");
}

/** The version that a client heard of last; undefined where it does not say, or nothing of ours. */
export function lastEventId(c: Call): number | undefined {
  const id = c.req.header("last-event-id") ?? "";
  return /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}

/**
 * Answers with server-sent events, drawn from their source only as fast as the client reads them. A fault on the
 * way is told as the event `problem`, and ends the stream.
 */
export async function eventStream(
  c: Call,
  { faultOf }: Pick<Services, "faultOf">,
  { lasts, open }: EventStream,
): Promise<Response> {
  const head = { "content-type": "text/event-stream" };
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
  // From here on: however short it is, it does not end what is only being opened.
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
      const data = problemBody(faultOf(error, c));
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
  // Nothing is drawn before somebody reads.
  return respond(new ReadableStream(source, { highWaterMark: 0 }), 200, head);
}

/** A frame as the stream has it. JSON has no line breaks. */
export function frameText({ event, id, data }: Frame): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
