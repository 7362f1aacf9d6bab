/** Publishes messages: adds a copy of each to each queue that has subscribed to their topic. */
import { messageOf, SluiceError, type SluiceErrorCode } from "../../errors.ts";
import {
  fetchTopics,
  knownTopics,
  matchingIn,
  type Message,
  noteRetention,
  noteTopics,
  rememberRetention,
  type StoredRetention,
  retainCommand,
  subscribersOf,
  type Subscription,
  timeOf,
  type TopicsRef,
  versionCall,
} from "../../features/topics/index.ts";
import { derivedName } from "../../kernel/names/derived-ids.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { gather } from "../../kernel/gather.ts";
import { replyOf } from "../../kernel/scripts/replies.ts";
import type { Transport } from "../../kernel/transport.ts";
import type { Queue } from "../queue.ts";
import type { Open } from "../opening.ts";
import type { Retaining } from "./retaining.ts";

/** What became of a message. */
export interface Published {
  /** The id of the message, and of its copy in each queue. */
  readonly id: string;
  /** The queues that have a copy. `created` is false if a queue had it before, from another call. */
  readonly copies: readonly { readonly queue: string; readonly created: boolean }[];
  /** The queues that have none, and why. Publish the message with the same id again. */
  readonly failed: readonly {
    readonly queue: string;
    readonly code: SluiceErrorCode;
    readonly message: string;
  }[];
  /** Whether the subscriptions had changed, so that they were read again, and new queues got their copies then. */
  readonly reread: boolean;
}

/** The error of a call that has not reached each queue. What it has reached, it has. */
export class PublishError extends SluiceError {
  /** What became of each message. */
  readonly published: readonly Published[];

  constructor(topic: string, code: SluiceErrorCode, reason: string, published: readonly Published[]) {
    const [first] = published;
    const ids = published.length === 1 && first ? `the id ${first.id}` : "the same ids";
    super(code, `${topic}: not every queue has got its copy; publish with ${ids} again: ${reason}`);
    this.published = published;
  }
}

/** How topics reach Redis and their queues. */
export interface TopicMeans {
  readonly ref: TopicsRef;
  readonly open: Open;
}

/** How often one call reads the subscriptions, if others change them all the time. */
const MAX_ROUNDS = 5;

/** A copy of a message in a queue, or why there is none. */
type Outcome = { readonly created: boolean } | { readonly error: SluiceError };

/** What became of messages, and the first failure. */
interface Done {
  readonly published: readonly Published[];
  readonly failure?: { readonly code: SluiceErrorCode; readonly reason: string } | undefined;
  /** Whether the request failed as a whole. */
  readonly isOver: boolean;
}

/**
 * Publishes messages in one request: reads which version the subscriptions have, and adds the copies. If it has worked by
 * an old list, it reads the list again, and adds what is missing.
 */
export async function publishTogether(
  means: TopicMeans,
  topic: string,
  messages: readonly Message[],
  retain: (stored: StoredRetention | undefined) => Promise<Retaining | undefined>,
  { idempotencyKey, ...options }: RequestOptions,
): Promise<Done> {
  const { ref } = means;
  const outcomes = messages.map(() => new Map<string, Outcome>());
  let known = knownTopics(ref) ?? (await fetchTopics(ref, options));
  const retaining = await retain(known.topics.retained.get(topic));
  let failure: SluiceError | undefined;
  let rounds = 0;
  for (let version = Number.NaN; version !== known.topics.version; rounds++) {
    if (rounds > 0) {
      try {
        known = await fetchTopics(ref, options);
      } catch (error) {
        failure = sluiceError(error);
        break;
      }
    }
    const calls = copiesOf(matchingIn(known, topic), messages, outcomes);
    const first = async (own: Transport): Promise<number> => {
      const retained = rounds > 0 ? undefined : retaining;
      const notes = retained && !known.noted.has(topic) ? [noteTopics(ref)] : [];
      if (notes.length > 0 && retained?.declared) notes.push(noteRetention(ref, topic, retained.declared));
      const at = timeOf(ref);
      const kept = retained ? [retainCommand(ref, topic, at, retained.messages(at))] : [];
      const { command, read } = versionCall(ref);
      const found = await own.send([...notes, ...kept, command], options);
      for (const outcome of found) replyOf(outcome);
      if (notes.length > 0) {
        known.noted.add(topic);
        if (retained?.declared) rememberRetention(ref, topic, retained.declared);
      }
      return read(found.at(-1));
    };
    const copies = calls.map(
      (call) => (own: Transport) => addCopies(means, call, messages, own, { ...options, idempotencyKey }),
    );
    const [reply, ...added] = await gather<number | readonly boolean[]>(ref.transport, [first, ...copies]);
    for (const [i, result] of added.entries()) note(outcomes, calls[i] as Copies, result);
    if (reply?.status !== "fulfilled") {
      failure = sluiceError(reply?.reason);
      break;
    }
    version = reply.value as number;
    if (rounds === MAX_ROUNDS - 1) break;
  }
  const published = messages.map(({ id }, i) => publishedAs(id, outcomes[i] ?? new Map(), rounds > 1));
  const failed = published.flatMap((one) => one.failed).at(0);
  if (failure) return { published, failure: { code: failure.code, reason: failure.message }, isOver: true };
  const reason = failed && { code: failed.code, reason: `${failed.queue}: ${failed.message}` };
  return { published, failure: reason, isOver: false };
}

/** The messages of which a queue gets copies, by their places. */
interface Copies {
  readonly subscription: Subscription;
  readonly places: readonly number[];
}

/** What is to be added to which queue. Queues that have got a copy get none. */
function copiesOf(
  matching: readonly Subscription[],
  messages: readonly Message[],
  outcomes: readonly ReadonlyMap<string, Outcome>[],
): Copies[] {
  const byQueue = new Map<string, { subscription: Subscription; places: number[] }>();
  for (const [place, { options }] of messages.entries()) {
    for (const [queue, subscription] of subscribersOf(matching, options.headers)) {
      const outcome = outcomes[place]?.get(queue);
      if (outcome && !("error" in outcome)) continue;
      const copies = byQueue.get(queue) ?? { subscription, places: [] };
      copies.places.push(place);
      byQueue.set(queue, copies);
    }
  }
  return [...byQueue.values()];
}

/** Adds copies to one queue, as its own producer does. @returns for each whether it was created */
async function addCopies(
  { open }: TopicMeans,
  { subscription, places }: Copies,
  messages: readonly Message[],
  transport: Transport,
  { signal, idempotencyKey: key }: RequestOptions,
): Promise<readonly boolean[]> {
  const queue = queueOf(open, subscription, transport);
  const tasks = places.map((place) => messages[place] as Message);
  // A repeat of the call may add other messages to the queue, by other subscriptions.
  const ids = tasks.map(({ id }) => id);
  const idempotencyKey = key === undefined ? undefined : await derivedName("copies", key, ...ids);
  const request = { signal, idempotencyKey };
  const [first, ...others] = tasks;
  if (first && others.length === 0) {
    return [(await queue.enqueue(first.payload, { ...first.options, id: first.id, ...request })).created];
  }
  const all = tasks.map(({ id, payload, options }) => ({ ...options, id, payload }));
  return (await queue.enqueueMany(all, request)).map(({ created }) => created);
}

/**
 * Opens a queue that has subscribed. One that is not declared here has the defaults of the subscription.
 * @throws {SluiceError} `undecryptable` if its payloads are encrypted elsewhere, but would not be here
 */
export function queueOf(
  open: Open,
  { queue, defaults, isSealed }: Pick<Subscription, "queue" | "defaults" | "isSealed">,
  transport: Transport,
): Queue {
  const { definition, options } = open(queue);
  const isDeclared = Object.keys(definition.options).length > 0;
  if (isSealed && !(options.encryption ?? definition.options.encryption)) {
    throw new SluiceError(
      "undecryptable",
      `payloads of ${queue} are encrypted: publish where the queue is declared with its encryption`,
    );
  }
  return open(queue, { ...(isDeclared ? {} : defaults), transport, coalesce: false }).queue();
}

function note(
  outcomes: readonly Map<string, Outcome>[],
  { subscription, places }: Copies,
  result: PromiseSettledResult<unknown>,
): void {
  for (const [i, place] of places.entries()) {
    const outcome: Outcome =
      result.status === "fulfilled"
        ? { created: (result.value as readonly boolean[])[i] === true }
        : { error: sluiceError(result.reason) };
    outcomes[place]?.set(subscription.queue, outcome);
  }
}

/** @throws any other error */
function sluiceError(reason: unknown): SluiceError {
  if (reason instanceof SluiceError) return reason;
  throw reason;
}

function publishedAs(id: string, outcomes: ReadonlyMap<string, Outcome>, reread: boolean): Published {
  const copies: Published["copies"][number][] = [];
  const failed: Published["failed"][number][] = [];
  for (const [queue, outcome] of outcomes) {
    if ("error" in outcome)
      failed.push({ queue, code: outcome.error.code, message: messageOf(outcome.error) });
    else copies.push({ queue, created: outcome.created });
  }
  return { id, copies, failed, reread };
}
