/** Replays: a queue gets what topics have retained. */
import { run, scriptCall } from "../../kernel/call.ts";
import { redisTime } from "../../kernel/clock.ts";
import type { Values } from "../../kernel/values/values.ts";
import type { SendOptions } from "../../kernel/transport.ts";
import { messagesKey, topicsKey } from "./keys.ts";
import { matchesTopic } from "./names.ts";
import { type Message, readMessage } from "./retained.ts";
import { fetchTopics, type TopicsRef } from "./stored.ts";
import { readPair, readReplay, type ReplayState, subscribersOf, type StoredTopics, writeReplay } from "./subscription.ts";
import { readTopicScript, setReplayScript } from "./topic-scripts.ts";

/** Messages of one step, and their bytes. */
const PAGE = 100;
const PAGE_BYTES = 2_000_000;

/** How long after its start a replay looks for messages, ms: publishers with an old list have a new one by then. */
const OVERLAP = 60_000;

/** For how long a sweep leaves a replay to whoever continued it last, ms. */
const ABANDONED_AFTER = 60_000;

/** What a replay needs. */
export interface ReplayMeans extends TopicsRef, SendOptions {
  /** Adds messages to a queue that has not got them. */
  readonly add: (queue: string, topic: string, messages: readonly Message[], topics: StoredTopics) => Promise<void>;
  /** How the payloads that a topic has retained are opened. */
  readonly valuesOf: (topic: string) => Values;
  /** When to stop, on the clock of `performance.now()`. A replay takes at least one step. */
  readonly until: number;
}

/** What a replay has done. */
export interface Replayed {
  /** How many messages it has given to the queue, which may have had them already. */
  readonly messages: number;
  /** Whether messages are left: sweeps continue. */
  readonly more: boolean;
}

export const timeOf = ({ transport, now }: TopicsRef): number => now?.() ?? redisTime(transport);

/** The state of a replay that begins. */
export function newReplay(ref: TopicsRef, since: number): string {
  const until = timeOf(ref) + OVERLAP;
  return writeReplay({ since, until, topic: "", from: since, skip: 0, at: 0 });
}

/** Whether nobody has continued a replay for a minute. */
export const isAbandoned = (ref: TopicsRef, state: string): boolean =>
  Math.abs(timeOf(ref) - readReplay(state).at) > ABANDONED_AFTER;

/** Notes how far a replay has come. @returns the state that is there now */
export function setReplay(
  { transport, prefix }: TopicsRef,
  change: { readonly pair: string; readonly was: string; readonly state: string },
  options: SendOptions = {},
): Promise<string> {
  return run(transport, scriptCall(setReplayScript, { topics: topicsKey(prefix) }, change), options);
}

/**
 * Continues a replay until it is done, the time is over, or another caller continues it.
 * @param state as it was read
 */
export async function continueReplay(means: ReplayMeans, pair: string, state: string): Promise<Replayed> {
  const { signal } = means;
  const { queue, topic: pattern } = readPair(pair);
  const { topics } = await fetchTopics(means, { signal });
  const own = { ...topics, subscriptions: topics.subscriptions.filter((one) => one.queue === queue) };
  const names = [...topics.retained.keys()].filter((name) => matchesTopic(pattern, name)).toSorted();
  let [messages, text, current]: [number, string, ReplayState] = [0, state, readReplay(state)];
  /** @returns whether it is still this caller's */
  const advance = async (next: string): Promise<boolean> => {
    const found = await setReplay(means, { pair, was: text, state: next }, { signal });
    text = next;
    return found === next;
  };
  for (const topic of names) {
    if (topic < current.topic) continue;
    let position = topic === current.topic ? current : { ...current, topic, from: current.since, skip: 0 };
    for (let more = true; more; ) {
      const page = await readPage(means, topic, position);
      const wanted = page.messages.filter(({ options }) => subscribersOf(own, topic, options.headers).has(queue));
      if (wanted.length > 0) await means.add(queue, topic, wanted, topics);
      messages += wanted.length;
      position = { ...position, from: page.from, skip: page.skip, at: timeOf(means) };
      if (!(await advance(writeReplay(position)))) return { messages, more: true };
      more = page.more;
      if (performance.now() >= means.until && (more || topic !== names.at(-1))) return { messages, more: true };
    }
    current = position;
  }
  await advance("");
  return { messages, more: false };
}

async function readPage(means: ReplayMeans, topic: string, { from, skip, until }: ReplayState) {
  const { transport, prefix, signal } = means;
  const args = { from: String(from), skip: String(skip), to: String(until), size: String(PAGE), maxBytes: String(PAGE_BYTES) };
  const call = scriptCall(readTopicScript, { messages: messagesKey(topic, prefix) }, args);
  const { messages, ...position } = await run(transport, call, { signal });
  const values = means.valuesOf(topic);
  return { ...position, messages: await Promise.all(messages.map((text) => readMessage(text, values))) };
}
