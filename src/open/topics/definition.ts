/** Declared topics, and what queues say of the topics that they subscribe to. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { invalidArgument } from "../../errors.ts";
import {
  conditionsOf,
  type HeaderFilter,
  type Retention,
  type TopicFilter,
  topicName,
  topicPattern,
} from "../../features/topics/index.ts";
import { checkedEncryption, type MaybeEncryption } from "../../features/encryption/index.ts";
import { checkedSchema } from "../../kernel/enqueue/checked-schema.ts";
import { milliseconds, type Duration } from "../../kernel/options/duration.ts";
import { instantMs, LAST_INSTANT } from "../../kernel/options/instants.ts";
import { onlyOptions, wholeNumber } from "../../kernel/options/validation.ts";

/** Keeps the messages of a topic for a time, for queues that subscribe later. */
export interface Retain {
  /** For how long, from 2 minutes on. */
  readonly for: Duration;
  /** Most bytes of messages, 2,000,000 to 50,000,000; the oldest are removed first. @default 10,000,000 */
  readonly bytes?: number | undefined;
}

/** The options of a topic that its declaration sets. */
export interface TopicOptions<In = unknown> {
  /** Checks payloads when they are published: any Standard Schema (zod, valibot, arktype, …). @default no check */
  readonly schema?: StandardSchemaV1<In, unknown> | undefined;
  /** Keeps messages for replays. @default none is kept */
  readonly retain?: Retain | undefined;
  /**
   * Encrypts what is kept by `retain`: `encryption()` of `sluice-queue/encryption`. The copies in queues are encrypted as
   * these queues say. @default it is kept as it is
   */
  readonly encryption?: MaybeEncryption;
}

/** A declared topic. It can take the place of the name of a topic. */
export interface TopicDefinition<In = unknown> {
  readonly name: string;
  readonly options: TopicOptions<In>;
  /** Has the type of payloads; never a value. */
  readonly types?: { readonly in: In } | undefined;
  /** Whether nothing but its name is known. @default false */
  readonly isNameOnly?: boolean | undefined;
}

/** A topic by its name or its declaration. */
export type TopicOrName<In = unknown> = string | TopicDefinition<In>;

/** Which messages of a topic a queue gets. */
export interface SubscribeOptions {
  /** Only messages whose headers meet these conditions. @default all messages */
  readonly filter?: TopicFilter | undefined;
  /**
   * A new subscription also gets what the topic has retained: of this time until now, or since this instant.
   * @default what is published from now on
   */
  readonly since?: Duration | Date | undefined;
}

type Subscribed = TopicOrName;

/** One subscription of a queue: a topic, or a pattern such as `orders.*` or `orders.#`; or a pair with its options. */
export type Subscribes = Subscribed | readonly [topic: Subscribed, options: SubscribeOptions];

export const SUBSCRIBE_OPTIONS = ["filter", "since"] as const satisfies readonly (keyof SubscribeOptions)[];

const TOPIC_OPTIONS = ["schema", "retain", "encryption"] as const satisfies readonly (keyof TopicOptions)[];

/** Most subscriptions of one queue that it declares. */
const MAX_SUBSCRIBES = 100;

/** @throws {SluiceError} `invalid_argument` */
export function checkTopicOptions<In>(options: TopicOptions<In>, others: readonly string[] = []): void {
  onlyOptions(options, [...TOPIC_OPTIONS, ...others]);
  checkedSchema(options.schema);
  checkedEncryption(options.encryption);
  retentionOf(options);
}

/** @throws {SluiceError} `invalid_argument` */
export function retentionOf({ retain }: Pick<TopicOptions, "retain">): Retention | undefined {
  if (retain === undefined) return undefined;
  onlyOptions(retain, ["for", "bytes"], "retain.");
  return {
    for: milliseconds(retain.for, "retain.for", { min: 120_000 }),
    bytes: wholeNumber(retain.bytes ?? 10_000_000, "retain.bytes", 2_000_000, 50_000_000),
  };
}

/** @throws {SluiceError} `invalid_argument` if it is neither a name nor a declared topic */
export function topicOf<In>(topic: TopicOrName<In>): TopicDefinition<In> {
  if (typeof topic === "string") return { name: topicName(topic), options: {}, isNameOnly: true };
  if (typeof topic?.options !== "object" || typeof topic.name !== "string") {
    throw invalidArgument("topic", "must be a name, or a topic that defineTopic made");
  }
  return { name: topicName(topic.name), options: topic.options };
}

/**
 * From when on a subscription gets what was published, epoch ms.
 * @param now the same
 * @throws {SluiceError} `invalid_argument`
 */
export function sinceMs(since: Duration | Date, now: number, path = "since"): number {
  // Below 1 is what is not a message.
  return Math.max(
    1,
    typeof since === "object" ? instantMs(since, path, LAST_INSTANT) : now - milliseconds(since, path),
  );
}

/** A declared subscription, checked. */
export interface DeclaredSubscription {
  /** A topic, or a pattern. */
  readonly topic: string;
  readonly filter: readonly HeaderFilter[];
  readonly since: Duration | Date | undefined;
  /** The topic, if it is declared. */
  readonly definition: TopicDefinition | undefined;
}

/**
 * What a queue subscribes to.
 * @param subscribes of its declaration
 * @throws {SluiceError} `invalid_argument`
 */
export function subscriptionsOf(
  subscribes: Subscribes | readonly Subscribes[] | undefined,
  path = "subscribes",
): readonly DeclaredSubscription[] {
  if (subscribes === undefined) return [];
  const isList = Array.isArray(subscribes) && !isPair(subscribes);
  const list = (isList ? subscribes : [subscribes]) as readonly Subscribes[];
  if (list.length > MAX_SUBSCRIBES) throw invalidArgument(path, `must be at most ${MAX_SUBSCRIBES}`);
  const found = list.map((one, i) => subscriptionOf(one, isList ? `${path}[${i}]` : path));
  const twice = found.find(({ topic }, i) => found.findIndex((other) => other.topic === topic) !== i);
  if (twice) throw invalidArgument(path, `must not name ${twice.topic} twice`);
  return found;
}

function subscriptionOf(given: Subscribes, path: string): DeclaredSubscription {
  const [topic, options = {}] = isPair(given) ? given : [given];
  onlyOptions(options, SUBSCRIBE_OPTIONS, `${path}.`);
  const { filter, since } = options;
  if (since !== undefined) sinceMs(since, Date.now(), `${path}.since`);
  return {
    topic: patternOf(topic, path),
    filter: conditionsOf(filter, `${path}.filter`),
    since,
    definition: typeof topic === "string" ? undefined : topic,
  };
}

/** @throws {SluiceError} `invalid_argument` */
export function patternOf(topic: TopicOrName, path = "topic"): string {
  return topicPattern(typeof topic === "string" ? topic : topic?.name, path);
}

/** Whether it is a topic with options: these have no name. */
function isPair(value: unknown): value is readonly [Subscribed, SubscribeOptions] {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const second: unknown = value[1];
  return typeof second === "object" && second !== null && !Array.isArray(second) && !("name" in second);
}
