/** Subscriptions that operators make. */
import type { MaybeEncryption } from "../../features/encryption/index.ts";
import {
  changeSubscriptions,
  conditionsOf,
  continueReplay,
  fetchTopics,
  newReplay,
  noteTopics,
  pairOf,
  type Replayed,
  timeOf,
  topicPattern,
  writeSubscription,
} from "../../features/topics/index.ts";
import { DEFAULT_OPTIONS } from "../../kernel/options/default-options.ts";
import { deadlineOf } from "../../kernel/options/duration.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { onlyOptions, REQUEST_OPTIONS } from "../../kernel/options/validation.ts";
import { pick } from "../../pick.ts";
import type { QueueOrName } from "../definition.ts";
import type { OpenQueue } from "../opening.ts";
import { sinceMs, SUBSCRIBE_OPTIONS, type SubscribeOptions } from "./definition.ts";
import type { TopicMeans } from "./publish.ts";
import { replayMeans } from "./replay.ts";

/** What subscribing has done. */
export interface Subscribed {
  readonly queue: string;
  /** The topic, or the pattern. */
  readonly topic: string;
  /** Whether the queue had no such subscription before. */
  readonly created: boolean;
  /** What was replayed, with `since`, if the subscription is new. @default nothing was to be replayed */
  readonly replayed?: Replayed | undefined;
}

/** Whether payloads of a queue are encrypted. */
export const areSealed = ({ definition, options }: Pick<OpenQueue, "definition" | "options">): boolean =>
  Boolean(options.encryption ?? definition.options.encryption);

/** The record of a subscription, as a publisher that does not have the declaration of the queue needs it. */
export function recordOf(
  queue: Pick<OpenQueue, "definition" | "options">,
  by: "deployment" | "operator",
  filter: ReturnType<typeof conditionsOf>,
): string {
  const defaults = pick(queue.definition.options, DEFAULT_OPTIONS);
  return writeSubscription({ by, filter, defaults, isSealed: areSealed(queue) });
}

/** See `Topic.subscribe`. @param topic or a pattern */
export async function subscribeQueue(
  means: TopicMeans,
  queue: QueueOrName<unknown, unknown>,
  topic: string,
  given: SubscribeOptions & RequestOptions,
  encryptionOf: (topic: string) => MaybeEncryption,
): Promise<Subscribed> {
  onlyOptions(given, [...SUBSCRIBE_OPTIONS, ...REQUEST_OPTIONS]);
  const { ref, open } = means;
  const { filter, since, signal } = given;
  const until = deadlineOf();
  const own = open(queue);
  const { name } = own;
  const pair = pairOf({ queue: name, topic: topicPattern(topic) });
  const record = await recordOfOperator(means, own, conditionsOf(filter), { signal });
  let replay = "";
  if (since !== undefined) {
    // By Redis's time, which this reads.
    await fetchTopics(ref, { signal });
    replay = newReplay(ref, sinceMs(since, timeOf(ref)));
    // First, so that a sweep finds the replay.
    await ref.transport.send([noteTopics(ref)], { signal });
  }
  const [existed] = (await changeSubscriptions(ref, [{ pair, record, replay }], { signal })) ?? [];
  // An earlier copy of the request may have made it. Its replay is that of this call then.
  const isOwn = async () => (await fetchTopics(ref, { signal })).topics.replays.get(pair) === replay;
  const created = !existed || (replay !== "" && (await isOwn()));
  const done = { queue: name, topic, created };
  if (replay === "" || !created) return done;
  const replayed = await continueReplay(replayMeans(means, { signal, until }, encryptionOf), pair, replay);
  return { ...done, replayed };
}

/** Without the declaration of the queue, what its subscriptions have noted of its tasks stays noted. */
async function recordOfOperator(
  { ref }: TopicMeans,
  own: OpenQueue,
  filter: ReturnType<typeof conditionsOf>,
  options: RequestOptions,
): Promise<string> {
  const isDeclared = Object.keys(own.definition.options).length > 0;
  if (isDeclared || own.options.encryption) return recordOf(own, "operator", filter);
  const { subscriptions } = (await fetchTopics(ref, options)).topics;
  const noted = subscriptions.filter(({ queue }) => queue === own.name);
  const { defaults = {}, isSealed = false } = noted.find(({ by }) => by === "deployment") ?? noted[0] ?? {};
  return writeSubscription({ by: "operator", filter, defaults, isSealed });
}

/** See `Topic.unsubscribe`. */
export async function unsubscribeQueue(
  { ref, open }: TopicMeans,
  queue: QueueOrName<unknown, unknown>,
  topic: string,
  options: RequestOptions,
): Promise<boolean> {
  onlyOptions(options, REQUEST_OPTIONS);
  const pair = pairOf({ queue: open(queue).name, topic: topicPattern(topic) });
  const change = { pair, record: "", replay: "" };
  const [existed = false] = (await changeSubscriptions(ref, [change], { signal: options.signal })) ?? [];
  return existed;
}
