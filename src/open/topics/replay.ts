/** Replays what topics have retained to queues that have subscribed. */
import { invalidArgument } from "../../errors.ts";
import { checkedEncryption, encrypted, type MaybeEncryption } from "../../features/encryption/index.ts";
import {
  beginReplay,
  continueReplay,
  fetchTopics,
  newReplay,
  pairOf,
  type Replayed,
  type ReplayMeans,
  timeOf,
  type TopicsRef,
} from "../../features/topics/index.ts";
import { matchesWords } from "../../kernel/names/word-pattern.ts";
import { slicesOf } from "../../kernel/slices.ts";
import { MAX_REQUEST_BYTES } from "../../kernel/options/limits.ts";
import { deadlineOf, type Duration } from "../../kernel/options/duration.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { onlyOptions, REQUEST_OPTIONS } from "../../kernel/options/validation.ts";
import { plainValues } from "../../kernel/values/values.ts";
import type { QueueOrName } from "../definition.ts";
import { type Open } from "../opening.ts";
import { sinceMs } from "./definition.ts";
import { queueOf, type TopicMeans } from "./publish.ts";

export interface ReplayOptions {
  /** What to replay: of this time until now, or since this instant. */
  readonly since: Duration | Date;
  /** When to stop, and report `more`; sweeps continue. @default "20s" */
  readonly budget?: Duration | undefined;
}

/** How what a topic has retained is encrypted. */
export type EncryptionOf = (topic: string) => MaybeEncryption;

/** Adds messages of replays to queues, as a publish does. */
export function addingTo(
  { transport }: TopicsRef,
  open: Open,
  signal: AbortSignal | undefined,
): ReplayMeans["add"] {
  return async (subscription, messages) => {
    const queue = queueOf(open, subscription, transport);
    const tasks = messages.map(({ id, payload, options }) => ({ ...options, id, payload }));
    for (const slice of slicesOf(tasks, SLICE)) await queue.enqueueMany(slice, { signal });
  };
}

/** A page of messages has at most 2 MB, or is one message: with options and encryption it fits into one request. */
const SLICE = Math.floor(MAX_REQUEST_BYTES / 65_000);

/** What continues a replay. */
export function replayMeans(
  { ref, open }: TopicMeans,
  { signal, until }: { readonly signal: AbortSignal | undefined; readonly until: number },
  encryptionOf: EncryptionOf,
): ReplayMeans {
  return {
    ...ref,
    signal,
    until,
    add: addingTo(ref, open, signal),
    valuesOf: (topic) => encrypted(plainValues(), topic, checkedEncryption(encryptionOf(topic))),
  };
}

/** See `Topic.replay`. */
export async function replayTopic(
  means: TopicMeans,
  queue: QueueOrName<unknown, unknown>,
  topic: string,
  options: ReplayOptions & RequestOptions,
  encryptionOf: EncryptionOf,
): Promise<Replayed> {
  onlyOptions(options, ["since", "budget", ...REQUEST_OPTIONS]);
  const { ref, open } = means;
  const { signal, budget } = options;
  const until = deadlineOf(budget);
  const { name } = open(queue);
  const { topics } = await fetchTopics(ref, { signal });
  const since = sinceMs(options.since, timeOf(ref));
  const isSubscribed = topics.subscriptions.some(
    (one) => one.queue === name && matchesWords(one.topic, topic),
  );
  if (!isSubscribed) throw invalidArgument("queue", `must be subscribed to ${topic}: ${name} is not`);
  const pair = pairOf({ queue: name, topic });
  const state = newReplay(ref, since);
  const was = topics.replays.get(pair) ?? "";
  if (!(await beginReplay(ref, { pair, was, state }, { signal }))) return { messages: 0, more: true };
  return continueReplay(replayMeans(means, { signal, until }, encryptionOf), pair, state);
}
