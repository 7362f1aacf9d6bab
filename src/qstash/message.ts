import { defineQueue } from "../deploy/declared/define-queue.ts";
import { notFound } from "./failure.ts";

/** A request to a destination: the payload of a task, as `POST /v2/publish` makes it. */
export interface Message {
  readonly url: string;
  /** @default "POST" */
  readonly method?: string | undefined;
  /** The headers that the receiver gets beside those of QStash: those of `Upstash-Forward-*`, and `Content-Type`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** @default none */
  readonly body?: string | undefined;
  /** Whether `body` is base64, because it is not UTF-8. */
  readonly isBase64?: true | undefined;
  /** How many attempts follow the first. */
  readonly retries: number;
  /** The expression of `Upstash-Retry-Delay`. @default as QStash's */
  readonly retryDelay?: string | undefined;
  /** Most time of an attempt, ms. */
  readonly timeout?: number | undefined;
  readonly callback?: Callback | undefined;
  readonly failureCallback?: Callback | undefined;
  readonly labels?: readonly string[] | undefined;
  /** What lists and logs do not show: `body`, `header`, or `header[Name]`. */
  readonly redact?: readonly string[] | undefined;
  readonly flowControl?: FlowControl | undefined;
  /** The URL group, and the name of the endpoint there. */
  readonly topicName?: string | undefined;
  readonly endpointName?: string | undefined;
  readonly queueName?: string | undefined;
  readonly scheduleId?: string | undefined;
  readonly callerIp?: string | undefined;
  /** When it is due at the earliest, epoch ms. */
  readonly notBefore?: number | undefined;
}

/** Where the response of a message goes, as a message of its own. */
export interface Callback {
  readonly url: string;
  /** The `Upstash-*` headers of that message, with lower-case names, such as `upstash-retries`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The limits of a flow control key. */
export interface FlowControl {
  readonly key: string;
  readonly parallelism?: number | undefined;
  readonly rate?: number | undefined;
  /** Seconds. */
  readonly period?: number | undefined;
}

/**
 * What is published when its task is due, as an occurrence of a schedule whose destination is a URL group or a queue:
 * the payload of a task, too.
 */
export interface Publication {
  readonly publish: {
    /** A URL, or the name of a URL group. */
    readonly destination: string;
    readonly queue?: string | undefined;
    /** As of a request to `/v2/publish`, with lower-case names. */
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | undefined;
    readonly isBase64?: true | undefined;
    readonly callerIp?: string | undefined;
  };
  readonly scheduleId?: string | undefined;
}

/** The id of the message of a publication; of a URL group each has `.` and its number behind it. */
export const dueId = (publication: string): string => `${publication}.due`;

/** The queue of messages. Their group is the flow control key. */
export const messages = defineQueue<Message | Publication>("qstash");

/** The queue of messages that were enqueued. Their group is the queue of QStash, whose order is kept. */
export const ordered = defineQueue<Message | Publication>("qstash-queues", { order: "strict" });

/** Queues by the letter in the ids of their messages. */
const byLetter = { m: messages.name, q: ordered.name };

/** Where a message is. */
export interface PlacedMessage {
  readonly queue: string;
  readonly id: string;
}

/** The id of a message, as its publisher and its receiver see it. */
export function messageId({ queue, id }: PlacedMessage): string {
  return `msg_${queue === ordered.name ? "q" : "m"}${id}`;
}

/**
 * Where the message with an id is.
 * @throws {Failure} if it is the id of no message
 */
export function placeOf(text: string): PlacedMessage {
  const place = placeIfAny(text);
  if (!place) throw notFound(`message ${text}`);
  return place;
}

/** The same; undefined if it is the id of no message. */
export function placeIfAny(text: string): PlacedMessage | undefined {
  const [, letter, id] = /^msg_([mq])([A-Za-z0-9][!-~]{0,127})$/.exec(text) ?? [];
  if (letter === undefined || id === undefined) return undefined;
  return { queue: byLetter[letter as keyof typeof byLetter], id };
}

/** Where messages are. Ids of none, such as those of QStash itself, are left out. */
export const placesOf = (texts: readonly string[]): PlacedMessage[] =>
  texts.flatMap((text) => placeIfAny(text) ?? []);
