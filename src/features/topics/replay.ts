/** Replays: a queue gets what topics have retained. */
import { run, scriptCall } from "../../kernel/call.ts";
import { matchesWords } from "../../kernel/names/word-pattern.ts";
import { putRecords } from "../../operate/put-records.ts";
import type { Values } from "../../kernel/values/values.ts";
import type { SendOptions } from "../../kernel/transport.ts";
import { messagesKey, topicsKey } from "./keys.ts";
import { type Message, readMessage } from "./retained.ts";
import { fetchTopics, matchingIn, noteTopics, timeOf, type TopicsRef } from "./stored.ts";
import {
  readPair,
  readReplay,
  type ReplayState,
  type Subscription,
  subscribersOf,
  writeReplay,
} from "./subscription.ts";
import { readTopicScript } from "./topic-scripts.ts";

/** Messages of one step, and their bytes. */
const PAGE = 100;
const PAGE_BYTES = 2_000_000;

/** How long after its start a replay looks for messages, ms: publishers with an old list have a new one by then. */
const OVERLAP = 60_000;

/** For how long a sweep leaves a replay to the caller that has continued it last, ms. */
const ABANDONED_AFTER = 60_000;

/** What a replay needs. */
export interface ReplayMeans extends TopicsRef, SendOptions {
  /** Adds messages to a queue that has not got them. */
  readonly add: (to: Subscription, messages: readonly Message[]) => Promise<void>;
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

/** The state of a replay that begins. */
export function newReplay(ref: TopicsRef, since: number): string {
  const until = timeOf(ref) + OVERLAP;
  return writeReplay({ since, until, topic: "", from: since, after: "", at: 0 });
}

/** Whether no caller has continued a replay for a minute. */
export const isAbandoned = (ref: TopicsRef, state: string): boolean =>
  Math.abs(timeOf(ref) - readReplay(state).at) > ABANDONED_AFTER;

/** A change of the state of a replay. */
interface ReplayChange {
  readonly pair: string;
  /** As it was read; empty: none. */
  readonly was: string;
  /** Empty: the replay has ended. */
  readonly state: string;
}

/** Notes how far a replay has come. @returns false if another caller continues it, or it was replaced */
async function noteReplay(
  { transport, prefix }: TopicsRef,
  { pair, was, state }: ReplayChange,
  options: SendOptions,
): Promise<boolean> {
  const change = { field: `>${pair}`, was, record: state };
  const [isOurs = false] = await putRecords(transport, topicsKey(prefix), [change], options);
  return isOurs;
}

/** Begins a replay: a sweep finds it from then on. @returns false if another caller has begun one meanwhile */
export async function beginReplay(
  ref: TopicsRef,
  change: ReplayChange,
  options: SendOptions,
): Promise<boolean> {
  await ref.transport.send([noteTopics(ref)], options);
  return noteReplay(ref, change, options);
}

/**
 * Continues a replay until it is done, the time is over, or another caller continues it.
 * @param state as it was read
 */
export async function continueReplay(means: ReplayMeans, pair: string, state: string): Promise<Replayed> {
  const { signal } = means;
  const { queue, topic: pattern } = readPair(pair);
  const known = await fetchTopics(means, { signal });
  const { topics } = known;
  const names = [...topics.retained.keys()].filter((name) => matchesWords(pattern, name)).toSorted();
  let [messages, text, current]: [number, string, ReplayState] = [0, state, readReplay(state)];
  /** @returns whether it is still this caller's */
  const advance = async (next: string): Promise<boolean> => {
    const isOurs = await noteReplay(means, { pair, was: text, state: next }, { signal });
    text = next;
    return isOurs;
  };
  for (const topic of names) {
    if (topic < current.topic) continue;
    const matching = matchingIn(known, topic).filter((one) => one.queue === queue);
    let position = topic === current.topic ? current : { ...current, topic, from: current.since, after: "" };
    for (let more = true; more;) {
      const page = await readPage(means, topic, position);
      let to: Subscription | undefined;
      const wanted = page.messages.filter(({ options }) => {
        const taken = subscribersOf(matching, options.headers).get(queue);
        to ??= taken;
        return taken !== undefined;
      });
      if (to) await means.add(to, wanted);
      messages += wanted.length;
      position = { ...position, from: page.from, after: page.after, at: timeOf(means) };
      if (!(await advance(writeReplay(position)))) return { messages, more: true };
      more = page.more;
      if (performance.now() >= means.until && (more || topic !== names.at(-1)))
        return { messages, more: true };
    }
    current = position;
  }
  await advance("");
  return { messages, more: false };
}

async function readPage(means: ReplayMeans, topic: string, { from, after, until }: ReplayState) {
  const { transport, prefix, signal } = means;
  const args = {
    from: String(from),
    after,
    to: String(until),
    size: String(PAGE),
    maxBytes: String(PAGE_BYTES),
  };
  const call = scriptCall(readTopicScript, { messages: messagesKey(topic, prefix) }, args);
  const { messages, ...position } = await run(transport, call, { signal });
  const values = means.valuesOf(topic);
  return { ...position, messages: await Promise.all(messages.map((text) => readMessage(text, values))) };
}
