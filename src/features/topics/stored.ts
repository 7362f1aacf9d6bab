/** Reads and changes the subscriptions to topics. */
import { SluiceError } from "../../errors.ts";
import { commandCall, exchange, run, scriptCall } from "../../kernel/call.ts";
import { InstanceMemory } from "../../kernel/instance-memory.ts";
import { timeCall } from "../../kernel/lease/peek.ts";
import { registryKey } from "../../kernel/names/keys.ts";
import { matchesWords } from "../../kernel/names/word-pattern.ts";
import type { Command, SendOptions, Transport } from "../../kernel/transport.ts";
import { messagesKey, topicsKey } from "./keys.ts";
import { putSubscriptionsScript } from "./topic-scripts.ts";
import {
  readTopics,
  type Retention,
  type StoredRetention,
  type StoredTopics,
  type Subscription,
  writeRetention,
} from "./subscription.ts";

/** Where topics are. */
export interface TopicsRef {
  readonly transport: Transport;
  readonly prefix?: string | undefined;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/** How long an instance uses what it has read, ms. */
const LIST_AGE = 60_000;

/** Most fields of the hash: publishers read all of it. */
const MAX_FIELDS = 20_000;

/** What an instance has read. */
export interface Known {
  readonly topics: StoredTopics;
  /** When, by its own clock, epoch ms. */
  readonly at: number;
  /** Topics for which it has noted what they retain. */
  readonly noted: Set<string>;
  /** By topic, the subscriptions that match it. */
  readonly matching: Map<string, readonly Subscription[]>;
}

const known = new InstanceMemory<Known>();

/** How far Redis's clock is ahead of the instance's, ms: also for the next transport to the database. */
const leads = new InstanceMemory<number>();

/** Redis's time, as nearly as this instance knows it, epoch ms. */
export const timeOf = ({ transport, prefix, now }: TopicsRef): number =>
  now?.() ?? Date.now() + (leads.get(transport, topicsKey(prefix)) ?? 0);

/** What this instance has read within a minute. */
export function knownTopics({ transport, prefix }: TopicsRef): Known | undefined {
  const found = known.get(transport, topicsKey(prefix));
  const age = found ? Date.now() - found.at : -1;
  return age >= 0 && age < LIST_AGE ? found : undefined;
}

/** Reads the subscriptions, and Redis's time. One request of two commands. */
export async function fetchTopics(ref: TopicsRef, options: SendOptions = {}): Promise<Known> {
  const { transport, prefix } = ref;
  const key = topicsKey(prefix);
  const [topics, time] = await exchange(
    transport,
    [commandCall(["HGETALL", key], (reply) => readTopics(reply as readonly string[])), timeCall],
    options,
  );
  const found: Known = { topics: topics(), at: Date.now(), noted: new Set(), matching: new Map() };
  leads.set(transport, key, time() - found.at);
  known.set(transport, key, found);
  return found;
}

/** Most topics of which an instance keeps what matches them. */
const MAX_MATCHED = 1_000;

/** The subscriptions that match a topic. */
export function matchingIn({ topics, matching }: Known, topic: string): readonly Subscription[] {
  const known = matching.get(topic);
  if (known) return known;
  if (matching.size >= MAX_MATCHED) matching.clear();
  const found = topics.subscriptions.filter((one) => matchesWords(one.topic, topic));
  matching.set(topic, found);
  return found;
}

/** The command that reads the version of the subscriptions, of which a publisher has a list. */
export const versionCall = ({ prefix }: TopicsRef) =>
  commandCall(["HGET", topicsKey(prefix), "~"], (reply) => Number(reply ?? 0));

/** A change of one subscription. */
export interface PairChange {
  readonly pair: string;
  /** Empty: it is removed. */
  readonly record: string;
  /** What a new one gets of the past; empty: nothing. */
  readonly replay: string;
}

/** A declaration of a queue that is applied. */
export interface DeclaredChange {
  readonly queue: string;
  readonly was: string;
  readonly declared: string;
}

/**
 * Changes subscriptions. One request.
 * @param declaration whose they are. @default an operator's
 * @returns for each whether it was there before; undefined if another declaration was applied meanwhile
 * @throws {SluiceError} `queue_full` if there are too many
 */
export async function changeSubscriptions(
  { transport, prefix }: TopicsRef,
  changes: readonly PairChange[],
  options: SendOptions = {},
  declaration: DeclaredChange = { queue: "", was: "", declared: "" },
): Promise<readonly boolean[] | undefined> {
  const args = { ...declaration, most: String(MAX_FIELDS), first: String(Math.floor(Math.random() * 1e12)) };
  const call = scriptCall(putSubscriptionsScript, { topics: topicsKey(prefix) }, args, changes);
  const reply = await run(transport, call, options);
  known.delete(transport, topicsKey(prefix));
  if (reply.status === "full") {
    throw new SluiceError("queue_full", "there are too many subscriptions to topics; remove some");
  }
  return reply.status === "ok" ? reply.existed : undefined;
}

/** What the note in the registry begins with that says that topics retain messages or are replayed. */
export const NOTE = "~:topics";

/** Later than any instant: sweeps take no note for a reminder that is due. */
const NEVER = 8_640_000_000_000_001;

/** The command that notes in the registry that a sweep has work on topics. */
export function noteTopics({ prefix }: TopicsRef): Command {
  // Another score each time, by which `forgetTopics` removes only the note that it has seen.
  const score = NEVER + Math.floor(Math.random() * 1e14);
  return ["ZADD", registryKey(prefix), String(score), NOTE];
}

/** The command that removes the note, unless it was written again. */
export const forgetTopics = ({ prefix }: TopicsRef, at: number): Command => {
  const score = String(at);
  return ["ZREMRANGEBYSCORE", registryKey(prefix), score, score];
};

/** The command that notes what a topic is declared to retain. */
export function noteRetention(
  ref: TopicsRef,
  topic: string,
  declared: Retention & Pick<StoredRetention, "isSealed">,
): Command {
  const record = writeRetention({ ...declared, at: timeOf(ref) });
  return ["HSET", topicsKey(ref.prefix), `/${topic}`, record];
}

/** Lets this instance know what it has noted, before it reads it again. */
export function rememberRetention(
  ref: TopicsRef,
  topic: string,
  declared: Retention & Pick<StoredRetention, "isSealed">,
): void {
  knownTopics(ref)?.topics.retained.set(topic, { ...declared, at: timeOf(ref) });
}

/** The command that retains messages. */
export function retainCommand(
  { prefix }: TopicsRef,
  topic: string,
  at: number,
  messages: readonly string[],
): Command {
  return ["ZADD", messagesKey(topic, prefix), "NX", ...messages.flatMap((one) => [String(at), one])];
}
