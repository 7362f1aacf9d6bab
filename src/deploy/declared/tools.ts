import type { Environment } from "../../environment.ts";
import type { Schedules } from "../../open/schedules/schedules.ts";
import type { QueueOrName } from "../../open/definition.ts";
import type { TopicOrName } from "../../open/topics/definition.ts";
import type { Topic } from "../../open/topics/topic.ts";
import type { Queue } from "../../open/queue.ts";
import type { QueueOptions } from "../../open/options.ts";

/** Keeps work running that nothing waits for, as the `waitUntil` of a platform. */
export type WaitUntil = (promise: Promise<unknown>) => void;

/** Options that a request handler or a consumer may set for a queue. The deployment sets the others. */
export type OwnQueueOptions<In, Out> = Omit<
  QueueOptions<In, Out>,
  "transport" | "prefix" | "wake" | "onDeadLetter" | "layer" | "now"
>;

/** What a deployment passes to its request handler, its consumers' handlers and its hook. */
export interface DeploymentTools<Env = Environment> {
  readonly env: Env;
  /**
   * A queue in the deployment's Redis, by its declaration or its name. An enqueue wakes the queue's consumer.
   * By name, the queue has the options of its declaration, or of its consumer in this deployment. `options` wins
   * over both; `encryption: null` turns encryption off.
   */
  readonly queue: <In = unknown, Out = In>(
    queue: QueueOrName<In, Out>,
    options?: OwnQueueOptions<In, Out>,
  ) => Queue<In, Out>;
  /** The schedules of a queue, with the same encryption and defaults of tasks as {@link queue}. */
  readonly schedules: <T = unknown>(
    queue: QueueOrName<T, unknown>,
    options?: Pick<QueueOptions, "encryption">,
  ) => Schedules<T>;
  /** A topic, by its declaration or its name. Its copies wake the consumers of their queues. Needs the option `topics`. */
  readonly topic: <In = unknown>(topic: TopicOrName<In>) => Topic<In>;
  /**
   * Lets work continue after the response; in a consumer, until the invocation ends. Undefined if the platform
   * does not support it.
   */
  readonly waitUntil: WaitUntil | undefined;
}
