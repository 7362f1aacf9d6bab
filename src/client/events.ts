/** The events of a queue over HTTP. */
import { fromBase64 } from "../base64.ts";
import { endable } from "../endable.ts";
import { SluiceError } from "../errors.ts";
import { onlyOptions } from "../kernel/options/validation.ts";
import type { PublishedEvent } from "../kernel/tasks/events.ts";
import { openReported, type ReportedTask } from "../kernel/tasks/reported-task.ts";
import type { SendOptions } from "../kernel/transport.ts";
import type { Values } from "../kernel/values/values.ts";
import { networkError, Transient } from "../retry.ts";
import { sleep } from "../sleep.ts";
import type { Connection } from "./connection.ts";
import { readReply } from "./replies.ts";
import { serverSentEvents } from "./server-sent-events.ts";

/** How long to wait before a stream that the server ended is opened again, ms. Events of this time are missed. */
const RECONNECT = 200;

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
  options: SendOptions,
): Promise<AsyncIterable<PublishedEvent>> {
  onlyOptions(options, ["signal"]);
  const open: Open = (to) => connection.stream(`/v1/queues/${queue}/events`, to);
  const ending = new AbortController();
  const { signal } = options;
  const until = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
  const first = await opened(open, until);
  return endable(read(first, open, values, until), () => ending.abort());
}

async function* read(
  first: ReadableStream<Uint8Array>,
  open: Open,
  values: Values,
  until: AbortSignal,
): AsyncGenerator<PublishedEvent, void> {
  try {
    for (let stream = first; ; stream = await opened(open, until)) {
      for await (const data of serverSentEvents(stream)) yield await openEvent(values, data as SentEvent);
      // A server that ends each stream at once must not get the next request at once.
      await sleep(RECONNECT, until);
      if (until.aborted) return;
    }
  } catch (error) {
    if (until.aborted) return;
    throw error instanceof SluiceError ? error : new SluiceError("unreachable", networkError(error).message);
  }
}

/** @throws {SluiceError} `unreachable`, `aborted`, or what the server answers */
async function opened(open: Open, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const aborted = () => new SluiceError("aborted", "the call was aborted by its signal");
  if (signal.aborted) throw aborted();
  try {
    const response = await open(signal);
    if (response.ok && response.body) return response.body;
    await readReply(response, await response.text(), "", []);
    throw new SluiceError("unexpected_reply", "the server answered without a stream");
  } catch (error) {
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
