import { checkedAt, invalidArgument } from "../../errors.ts";
import { processVariable } from "../../environment.ts";
import { topicName } from "../../features/topics/index.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import type { Transport } from "../../kernel/transport.ts";
import type { Waker } from "../../features/waking/index.ts";
import { pick } from "../../pick.ts";
import { prefixVariable } from "../../redis-variables.ts";
import type { Encryption } from "../../features/encryption/index.ts";
import type { QueueDefinition, QueueOrName } from "../../open/definition.ts";
import { type Open, opening } from "../../open/opening.ts";
import type { OrMade } from "./declaration.ts";
import {
  checkTopicOptions,
  type SubscribeOptions,
  type TopicDefinition,
  type TopicOptions,
} from "../../open/topics/definition.ts";
import type { Published } from "../../open/topics/publish.ts";
import type { ReplayOptions } from "../../open/topics/replay.ts";
import { type NewMessage, type Preview, type PublishOptions, Topic } from "../../open/topics/topic.ts";
import { refOf } from "../../open/topics/topics.ts";

/** What `defineTopic` takes. */
export interface TopicDeclaration<In = unknown> extends Omit<TopicOptions<In>, "encryption"> {
  /**
   * Encrypts what is kept by `retain`: `encryption()` of `sluice-queue/encryption`, or a function that makes it at the
   * first use. The copies in queues are encrypted as these queues say. @default it is kept as it is
   */
  readonly encryption?: OrMade<Encryption> | undefined;
  /**
   * How the topic's own methods reach Redis, or a function that makes the transport at the first call. A deployment does
   * not need it: there, use `topic(orders)` of the tools. A server connects the topics to which its queues subscribe.
   * @default they throw
   */
  readonly transport?: OrMade<Transport> | undefined;
  /** First part of every key for these methods. @default that of the transport, else `SLUICE_PREFIX`, or "sluice" */
  readonly prefix?: string | undefined;
  /** Wakes the consumers of the queues for these methods. @default cron starts consumers */
  readonly wake?: OrMade<Waker> | undefined;
  /**
   * The declared queues that subscribe, for these methods: their copies then have all of their options, such as
   * encryption. @default each has the defaults that its subscription names
   */
  readonly queues?: readonly QueueDefinition[] | undefined;
}

/**
 * Declares a topic in one place. Each queue that has subscribed gets a copy of what is published.
 * @param name as that of a queue; dots divide the words that patterns match
 * @throws {SluiceError} `invalid_argument`
 * @example
 * export const orders = defineTopic("orders", { schema: z.object({ order: z.number() }) });
 * export const billing = defineQueue("billing", { subscribes: orders });
 */
export function defineTopic<In = unknown>(
  name: string,
  declaration: TopicDeclaration<In> = {},
): DefinedTopic<In> {
  return new DefinedTopic(name, declaration);
}

const made = <T extends object | undefined>(value: T | (() => T)): T =>
  typeof value === "function" ? value() : value;

/** A declared topic. `defineTopic` makes it. */
export class DefinedTopic<In = unknown> implements TopicDefinition<In> {
  declare readonly types?: { readonly in: In } | undefined;
  readonly name: string;
  #options: TopicOptions<In> | undefined;
  readonly #declaration: TopicDeclaration<In>;
  #topic: Topic<In> | undefined;
  /** Those of connections, such as of running servers. The last one is used. */
  readonly #connected: Topic<In>[] = [];

  /** @throws {SluiceError} `invalid_argument` */
  constructor(name: string, declaration: TopicDeclaration<In>) {
    this.name = topicName(name);
    checkedAt(`${this.name}.`, () => {
      const { encryption: _, ...others } = declaration;
      checkTopicOptions(others, ["transport", "prefix", "wake", "queues"]);
    });
    this.#declaration = declaration;
  }

  /** What the declaration says of its messages. */
  get options(): TopicOptions<In> {
    const { encryption } = this.#declaration;
    return (this.#options ??= {
      ...pick(this.#declaration, ["schema", "retain"]),
      encryption: made(encryption),
    });
  }

  /**
   * Connects the topic's own methods, instead of what is declared: a server and a test connect the topics to which their
   * declared queues subscribe.
   * @param open opens the queues that get copies
   * @returns a function that disconnects them
   */
  connect(open: Open): () => void {
    const topic = new Topic<In>(this, { open, ref: refOf(open) });
    this.#connected.push(topic);
    return () => {
      const at = this.#connected.indexOf(topic);
      if (at >= 0) this.#connected.splice(at, 1);
    };
  }

  /** Publishes outside of a deployment, as `Topic.publish`. @throws {SluiceError} `invalid_argument` without `transport` */
  async publish(payload: In, options?: PublishOptions & RequestOptions): Promise<Published> {
    return this.#own().publish(payload, options);
  }

  /** As `Topic.publishMany`. @throws {SluiceError} as {@link publish} */
  async publishMany(
    messages: readonly NewMessage<In>[],
    options?: RequestOptions,
  ): Promise<readonly Published[]> {
    return this.#own().publishMany(messages, options);
  }

  /** As `Topic.preview`. @throws {SluiceError} as {@link publish} */
  async preview(options?: Pick<PublishOptions, "headers"> & RequestOptions): Promise<Preview> {
    return this.#own().preview(options);
  }

  /** As `Topic.subscriptions`. @throws {SluiceError} as {@link publish} */
  async subscriptions(options?: RequestOptions): ReturnType<Topic["subscriptions"]> {
    return this.#own().subscriptions(options);
  }

  /** As `Topic.subscribe`. @throws {SluiceError} as {@link publish} */
  async subscribe(
    queue: QueueOrName<unknown, unknown>,
    options?: SubscribeOptions & RequestOptions,
  ): ReturnType<Topic["subscribe"]> {
    return this.#own().subscribe(queue, options);
  }

  /** As `Topic.unsubscribe`. @throws {SluiceError} as {@link publish} */
  async unsubscribe(queue: QueueOrName<unknown, unknown>, options?: RequestOptions): Promise<boolean> {
    return this.#own().unsubscribe(queue, options);
  }

  /** As `Topic.replay`. @throws {SluiceError} as {@link publish} */
  async replay(
    queue: QueueOrName<unknown, unknown>,
    options: ReplayOptions & RequestOptions,
  ): ReturnType<Topic["replay"]> {
    return this.#own().replay(queue, options);
  }

  #own(): Topic<In> {
    return this.#connected.at(-1) ?? (this.#topic ??= this.#made());
  }

  /** @throws {SluiceError} `invalid_argument` without a declared transport */
  requireTransport(): OrMade<Transport> {
    const { transport } = this.#declaration;
    if (transport !== undefined) return transport;
    throw invalidArgument(
      "transport",
      `must be declared, as defineTopic("${this.name}", { transport: upstash }), to call ${this.name}.publish(…) itself. ` +
        "A server in this process connects the topics to which its declared queues subscribe. " +
        "Handlers and fetch of a deployment take topic(…) from their arguments",
    );
  }

  #made(): Topic<In> {
    const { wake, queues = [] } = this.#declaration;
    const transport = made(this.requireTransport());
    const {
      prefix = transport.prefix ?? prefixVariable({ SLUICE_PREFIX: processVariable("SLUICE_PREFIX") }),
    } = this.#declaration;
    const definitionOf = (name: string) => queues.find((queue) => queue.name === name);
    const open = opening({ transport, prefix, wake: made(wake), definitionOf });
    return new Topic(this, { open, ref: refOf(open) });
  }
}
