/** Subscriptions, and what else the hash of topics has, as they are stored. */
import { newerSchema, SluiceError } from "../../errors.ts";
import type { TaskDefaults } from "../../kernel/options/types.ts";
import { type HeaderFilter, passes } from "./filter.ts";

/** A queue that gets the messages of a topic, or of all topics that match a pattern. */
export interface Subscription {
  readonly queue: string;
  /** A topic, or a pattern. */
  readonly topic: string;
  /** Who has made it: the declaration of a queue, or an operator. */
  readonly by: "deployment" | "operator";
  /** The conditions that a message must meet, all of them. */
  readonly filter: readonly HeaderFilter[];
  /** The defaults of the queue's tasks, for publishers that do not have its declaration. */
  readonly defaults: TaskDefaults;
  /** Whether payloads of the queue are encrypted. */
  readonly isSealed: boolean;
}

/** For how long a topic keeps its messages, ms, and how many bytes of them. */
export interface Retention {
  readonly for: number;
  readonly bytes: number;
}

/** The same, as it was noted by a publisher or a deployment that has the declaration of the topic. */
export interface StoredRetention extends Retention {
  /** When that was, epoch ms. */
  readonly at: number;
  /** Whether what it retains is encrypted. */
  readonly isSealed: boolean;
}

/** How far a replay has come. Instants are epoch ms. */
export interface ReplayState {
  /** What it gets: messages from then to then. */
  readonly since: number;
  readonly until: number;
  /** The topic that it reads; empty at the start. Those before it, by name, are done. */
  readonly topic: string;
  readonly from: number;
  /** The first line of the message of `from` that it has read last; empty: none. */
  readonly after: string;
  /** When it was last continued. */
  readonly at: number;
}

/** All that the hash of topics has. */
export interface StoredTopics {
  readonly version: number;
  readonly subscriptions: readonly Subscription[];
  /** By topic; this instance adds what it notes itself. */
  readonly retained: Map<string, StoredRetention>;
  /** By pair of queue and topic or pattern, the text of the state. */
  readonly replays: ReadonlyMap<string, string>;
}

const LETTERS = { deployment: "d", operator: "o" } as const;

export const pairOf = ({ queue, topic }: Pick<Subscription, "queue" | "topic">): string =>
  `${queue} ${topic}`;

export function readPair(pair: string): Pick<Subscription, "queue" | "topic"> {
  const [queue = "", topic = ""] = pair.split(" ");
  return { queue, topic };
}

export function writeSubscription({
  by,
  filter,
  defaults,
  isSealed,
}: Omit<Subscription, "queue" | "topic">): string {
  const json = {
    filter: filter.length > 0 ? filter : undefined,
    defaults: Object.keys(defaults).length > 0 ? defaults : undefined,
    sealed: isSealed || undefined,
  };
  return `1;${LETTERS[by]};${JSON.stringify(json)}`;
}

function readSubscription(pair: string, record: string): Subscription {
  const [, version, by, json = ""] = /^(\d+);(?:([do]);)?(.*)$/s.exec(record) ?? [];
  if (version !== "1") throw newerSchema("a subscription to a topic");
  const found = parsed(json) as { filter?: HeaderFilter[]; defaults?: TaskDefaults; sealed?: boolean };
  return {
    ...readPair(pair),
    by: by === "o" ? "operator" : "deployment",
    filter: found.filter ?? [],
    defaults: found.defaults ?? {},
    isSealed: found.sealed ?? false,
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new SluiceError("unexpected_reply", "a subscription to a topic is not JSON");
  }
}

export const writeRetention = ({ for: ms, bytes, at, isSealed }: StoredRetention): string =>
  `1;${ms};${bytes};${at};${isSealed ? "s" : ""}`;

export function writeReplay({ since, until, topic, from, after, at }: ReplayState): string {
  return ["1", since, until, topic, from, at, after].join(";");
}

/** @throws {SluiceError} `newer_schema` */
export function readReplay(text: string): ReplayState {
  const [version, since, until, topic = "", from, at, ...after] = text.split(";");
  if (version !== "1") throw newerSchema("a replay of a topic");
  return {
    since: Number(since),
    until: Number(until),
    topic,
    from: Number(from),
    at: Number(at),
    after: after.join(";"),
  };
}

/**
 * Reads the fields of the hash.
 * @param flat names and values, in turn
 * @throws {SluiceError} `newer_schema`
 */
export function readTopics(flat: readonly string[]): StoredTopics {
  let version = 0;
  const subscriptions: Subscription[] = [];
  const retained = new Map<string, StoredRetention>();
  const replays = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [field, value] = [flat[i] as string, flat[i + 1] as string];
    const name = field.slice(1);
    if (field === "~") version = Number(value);
    else if (field.startsWith(">")) replays.set(name, value);
    else if (field.startsWith("/")) {
      const [form, ms, bytes, at, sealed] = value.split(";");
      const retention = { for: Number(ms), bytes: Number(bytes), at: Number(at), isSealed: sealed === "s" };
      // What a later release has written is for its sweeps.
      if (form === "1") retained.set(name, retention);
    } else if (!field.startsWith("=")) subscriptions.push(readSubscription(field, value));
  }
  subscriptions.sort((one, other) => (pairOf(one) < pairOf(other) ? -1 : 1));
  return { version, subscriptions, retained, replays };
}

/**
 * The subscriptions by which queues get a message with these headers, one for each queue.
 * @param matching those that match its topic
 */
export function subscribersOf(
  matching: readonly Subscription[],
  headers: Readonly<Record<string, string>> | undefined,
): ReadonlyMap<string, Subscription> {
  const found = new Map<string, Subscription>();
  for (const one of matching) {
    if (!found.has(one.queue) && passes(one.filter, headers)) found.set(one.queue, one);
  }
  return found;
}
