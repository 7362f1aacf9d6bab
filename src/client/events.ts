/** The events of a queue over HTTP. */
import { fromBase64 } from "../base64.ts";
import { endable } from "../endable.ts";
import { SluiceError } from "../errors.ts";
import { onlyOptions } from "../kernel/options/validation.ts";
import type { EventsOptions, PublishedEvent } from "../kernel/tasks/events.ts";
import { noteNoEvents } from "../kernel/tasks/no-events.ts";
import { openReported, type ReportedTask } from "../kernel/tasks/reported-task.ts";
import type { Values } from "../kernel/values/values.ts";
import { reopened } from "../reopened.ts";
import { networkError, TimedOut, Transient } from "../retry.ts";
import { endsWithin } from "../sleep.ts";
import type { Connection } from "./connection.ts";
import { readReply } from "./replies.ts";
import { serverSentEvents } from "./server-sent-events.ts";

/**
 * How long the server may take to open a stream, and then be silent, ms. Then the connection counts as lost. The server
 * sends a comment every three seconds.
 */
const SILENT_AFTER = 20_000;

/** Opens a stream. */
type Open = (signal: AbortSignal) => Promise<Response>;

/** An event as the server sends it. */
interface SentEvent extends Omit<PublishedEvent, "tasks"> {
  readonly tasks?: readonly (ReportedTask & {
    readonly encoding?: "base64";
    readonly errorEncoding?: "base64";
  })[];
}

/** Follows a stream of events; see `ClientQueue.events`. */
export async function followEvents(
  connection: Connection,
  queue: string,
  values: Values,
  options: EventsOptions,
): Promise<AsyncIterable<PublishedEvent>> {
  onlyOptions(options, ["signal", "warn"]);
  const ending = new AbortController();
  const { signal, warn = true } = options;
  const until = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
  const stream: Open = (to) => connection.stream(`/v1/queues/${queue}/events`, to);
  const isOn = async () => {
    const path = `/v1/queues/${queue}/settings`;
    const request = { method: "GET", path, replyField: "events", options: { signal: until } } as const;
    return ((await connection.request(request)) as { readonly events: boolean }).events;
  };
  const note = noteNoEvents(queue, isOn, until);
  const open = async () => {
    const events = await opened(stream, until);
    if (warn) note();
    return sentEvents(events);
  };
  const events = reopened(await open(), {
    open,
    mayPass: (error) => error instanceof SluiceError && error.code === "unreachable",
    gap: () => ({ event: "gap", at: Date.now(), ids: [] }) as const,
    until,
  });
  return endable(read(events, values), () => ending.abort());
}

/** What reads a stream. */
type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** The events of one stream. @throws {SluiceError} `unreachable` when it ends */
async function* sentEvents(stream: Reader): AsyncGenerator<SentEvent, never> {
  let last = "the server ended the stream";
  try {
    yield* serverSentEvents(unlessSilent(stream)) as AsyncIterable<SentEvent>;
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    last = (error instanceof Transient ? error : networkError(error)).message;
  }
  throw new SluiceError("unreachable", last);
}

/** The chunks of a stream. @throws {Transient} if it is silent for too long */
async function* unlessSilent(stream: Reader): AsyncGenerator<Uint8Array, void> {
  try {
    for (;;) {
      const { done, value } = await unlessLate(stream.read());
      if (done) return;
      yield value;
    }
  } finally {
    stream.cancel().catch(() => {});
  }
}

/** @throws {Transient} if the server takes too long */
async function unlessLate<T>(answer: Promise<T>): Promise<T> {
  const inTime = await endsWithin(
    SILENT_AFTER,
    answer.catch(() => {}),
  );
  if (!inTime) throw new TimedOut(SILENT_AFTER);
  return answer;
}

async function* read(events: AsyncIterable<SentEvent>, values: Values): AsyncGenerator<PublishedEvent, void> {
  for await (const event of events) yield await openEvent(values, event);
}

/**
 * Opens a stream, and takes its reader at once: undici cancels the body of a response that the garbage collector has
 * taken, unless it has a reader.
 * @throws {SluiceError} `unreachable`, `aborted`, or what the server answers
 */
async function opened(open: Open, signal: AbortSignal): Promise<Reader> {
  const aborted = () => new SluiceError("aborted", "the call was aborted by its signal");
  if (signal.aborted) throw aborted();
  const failing = new AbortController();
  try {
    const response = await unlessLate(open(AbortSignal.any([signal, failing.signal])));
    if (response.ok && response.body) return response.body.getReader();
    await readReply(response, await response.text(), "", []);
    throw new SluiceError("unexpected_reply", "the server answered without a stream");
  } catch (error) {
    failing.abort();
    if (error instanceof SluiceError) throw error;
    if (signal.aborted) throw aborted();
    const { message } = error instanceof Transient ? error : networkError(error);
    throw new SluiceError("unreachable", `the server gave no useful answer: ${message}`);
  }
}

async function openEvent(values: Values, { tasks, ...event }: SentEvent): Promise<PublishedEvent> {
  if (!tasks) return event;
  const read = tasks.map(({ encoding, errorEncoding, ...task }) =>
    openReported(values, {
      ...task,
      ...(encoding && { result: fromBase64(String(task.result)) }),
      ...(errorEncoding && { error: fromBase64(String(task.error)) }),
    }),
  );
  return { ...event, tasks: await Promise.all(read) };
}
