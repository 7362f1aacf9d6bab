/** Applies what declared queues say of the topics that they subscribe to. */
import type { MaybeEncryption } from "../../features/encryption/index.ts";
import {
  changeSubscriptions,
  continueReplay,
  fetchTopics,
  isAbandoned,
  knownTopics,
  newReplay,
  noteRetention,
  noteTopics,
  pairOf,
  readPair,
  rememberRetention,
  timeOf,
  topicsKey,
} from "../../features/topics/index.ts";
import { newerSchema } from "../../errors.ts";
import { commandCall, run } from "../../kernel/call.ts";
import { deadlineOf } from "../../kernel/options/duration.ts";
import type { QueueDefinition } from "../definition.ts";
import {
  type DeclaredSubscription,
  retentionOf,
  sinceMs,
  subscriptionsOf,
  type Subscribes,
} from "./definition.ts";
import type { TopicMeans } from "./publish.ts";
import { replayMeans } from "./replay.ts";
import { areSealed, recordOf } from "./subscribe.ts";

/** A declared queue, with what it subscribes to. */
export interface Subscriber extends Pick<QueueDefinition, "name" | "options"> {
  readonly subscribes?: Subscribes | readonly Subscribes[] | undefined;
}

/** What applying declarations has changed of one queue. */
export interface AppliedSubscriptions {
  readonly queue: string;
  /** Topics and patterns that it has subscribed to, with those that were so before. */
  readonly subscribed: readonly string[];
  /** Those that it no longer declares. */
  readonly unsubscribed: readonly string[];
}

/** Most subscriptions that one call changes. */
const MOST_CHANGES = 200;

/** How long replays may take, before sweeps or the next call continue them. */
const REPLAY_BUDGET = "10s";

/**
 * Applies the subscriptions of declared queues that have changed since the last call: adds those that are new, replaces
 * those that have changed, removes those that are no longer declared. What an operator has subscribed stays. One request
 * of one command if nothing has changed.
 * @throws {SluiceError}
 */
export async function applySubscriptions(
  means: TopicMeans,
  queues: readonly Subscriber[],
  signal: AbortSignal | undefined,
): Promise<readonly AppliedSubscriptions[]> {
  const { ref } = means;
  const fields = queues.map(({ name }) => `=${name}`);
  const read = commandCall(
    ["HMGET", topicsKey(ref.prefix), ...fields],
    (reply) => reply as (string | null)[],
  );
  const stored = queues.length > 0 ? await run(ref.transport, read, { signal }) : [];
  const changed: AppliedSubscriptions[] = [];
  for (const [i, queue] of queues.entries()) {
    const done = await applyOne(means, queue, stored[i] ?? "", signal);
    if (done) changed.push(done);
  }
  await noteRetained(means, queues, signal);
  await noteSealed(means, queues, signal);
  // Sweeps do not have the keys of deployments.
  const withPast = queues.filter(
    ({ name, subscribes }) =>
      areSealed(means.open(name)) || subscriptionsOf(subscribes).some(({ since }) => since !== undefined),
  );
  if (withPast.length > 0) await replay(means, withPast, queues, signal);
  return changed;
}

async function applyOne(
  { ref, open }: TopicMeans,
  { name, subscribes }: Subscriber,
  was: string,
  signal: AbortSignal | undefined,
): Promise<AppliedSubscriptions | undefined> {
  const own = open(name);
  const subscriptions = subscriptionsOf(subscribes);
  const records = subscriptions.map(({ topic, filter, since }) => {
    return { topic, since, record: recordOf(own, "deployment", filter) };
  });
  const declared = subscriptions.length > 0 ? writeDeclared(records) : "";
  if (declared === was) return undefined;
  const subscribed = subscriptions.map(({ topic }) => topic);
  const unsubscribed = readDeclared(was).filter((topic) => !subscribed.includes(topic));
  if (records.some(({ since }) => since !== undefined)) {
    // Reads Redis's time. The note is first, so that a sweep finds the replays.
    await fetchTopics(ref, { signal });
    await ref.transport.send([noteTopics(ref)], { signal });
  }
  const changes = [...unsubscribed.map((topic) => ({ topic, record: "", since: undefined })), ...records].map(
    ({ topic, record, since }) => {
      const replay = since === undefined ? "" : newReplay(ref, sinceMs(since, timeOf(ref)));
      return { pair: pairOf({ queue: name, topic }), record, replay };
    },
  );
  const applied = await changeSubscriptions(ref, changes, { signal }, { queue: name, was, declared });
  // Otherwise another deployment applies its own at the same time.
  return applied && { queue: name, subscribed, unsubscribed };
}

type Declared = Pick<DeclaredSubscription, "topic" | "since"> & { readonly record: string };

const writeDeclared = (records: readonly Declared[]): string =>
  `1;${JSON.stringify(records.map(({ topic, since, record }) => [topic, record, since ?? null]))}`;

/** The topics of a declaration that was applied. @throws {SluiceError} `newer_schema` */
function readDeclared(text: string): readonly string[] {
  if (text === "") return [];
  if (!text.startsWith("1;")) throw newerSchema("the declaration of a subscription to topics");
  return (JSON.parse(text.slice(2)) as readonly (readonly [string])[]).map(([topic]) => topic);
}

/** Notes what the topics retain that are declared here: publishers that know only their names retain it, too. */
async function noteRetained(
  { ref }: TopicMeans,
  queues: readonly Subscriber[],
  signal: AbortSignal | undefined,
) {
  const topics = queues.flatMap(({ subscribes }) => subscriptionsOf(subscribes));
  const declared = topics.flatMap(({ topic, definition }) => {
    const retention = definition && retentionOf(definition.options);
    const isSealed = Boolean(definition?.options.encryption);
    return retention ? [{ topic, retention: { ...retention, isSealed } }] : [];
  });
  if (declared.length === 0) return;
  const notes = declared.map(({ topic, retention }) => noteRetention(ref, topic, retention));
  await ref.transport.send(notes, { signal });
  for (const { topic, retention } of declared) rememberRetention(ref, topic, retention);
}

/**
 * Notes in what operators have subscribed that payloads of a queue are encrypted, so that publishers without its
 * declaration refuse to add plain ones. Only here the encryption is known.
 */
async function noteSealed(
  { ref, open }: TopicMeans,
  queues: readonly Subscriber[],
  signal: AbortSignal | undefined,
) {
  const sealed = new Set(queues.map(({ name }) => name).filter((name) => areSealed(open(name))));
  if (sealed.size === 0) return;
  const { topics } = knownTopics(ref) ?? (await fetchTopics(ref, { signal }));
  const changes = topics.subscriptions
    .filter(({ queue, by, isSealed }) => by === "operator" && !isSealed && sealed.has(queue))
    .map((one) => ({
      pair: pairOf(one),
      record: recordOf(open(one.queue), "operator", one.filter),
      replay: "",
    }));
  for (let first = 0; first < changes.length; first += MOST_CHANGES) {
    await changeSubscriptions(ref, changes.slice(first, first + MOST_CHANGES), { signal });
  }
}

/**
 * Gives new subscribers what they get of the past, and continues what another call has begun. What fails for one does not
 * stop the others.
 * @param all the queues that are declared: they know how topics are encrypted
 */
async function replay(
  means: TopicMeans,
  queues: readonly Subscriber[],
  all: readonly Subscriber[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { ref } = means;
  const until = deadlineOf(REPLAY_BUDGET);
  const { topics } = await fetchTopics(ref, { signal });
  const declared = all.flatMap(({ subscribes }) => subscriptionsOf(subscribes));
  const encryptionOf = (of: string): MaybeEncryption =>
    declared.find(({ topic, definition }) => topic === of && definition)?.definition?.options.encryption;
  const names = new Set(queues.map(({ name }) => name));
  const failures: unknown[] = [];
  for (const [pair, state] of topics.replays) {
    if (!names.has(readPair(pair).queue) || !isAbandoned(ref, state)) continue;
    const replayed = continueReplay(replayMeans(means, { signal, until }, encryptionOf), pair, state);
    await replayed.catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}
