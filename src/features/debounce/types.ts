import type { Duration } from "../../kernel/options/duration.ts";
import type { Enqueued, EnqueueOptions, RequestOptions } from "../../kernel/options/types.ts";

/** Joins the enqueues with one key into one task, which is due when no other has come for a while. */
export interface Debounce<Keep extends "last" | "first" | "all" = "last" | "first" | "all"> {
  /** Named like an id and scoped to the queue. */
  readonly key: string;
  /** How long after the last enqueue the task is due. At least 1 ms. */
  readonly wait: Duration;
  /** How long after the first enqueue it is due at the latest. @default no bound */
  readonly maxWait?: Duration | undefined;
  /**
   * Which payload the task gets: the last one, with its options; the first one; or all, as a list. A list with 1,000
   * payloads, or 1 MiB of JSON, starts at once, and the next enqueue begins another.
   * @default "last"
   */
  readonly keep?: Keep | undefined;
}

/** Adds at most so many tasks of a key in a period. */
export interface Throttle {
  /** Named like an id and scoped to the queue. */
  readonly key: string;
  /** How many tasks, 1 to 1,000,000. */
  readonly most: number;
  /** The period. At least 1 ms. */
  readonly per: Duration;
  /** What becomes of the tasks beyond: they are dropped, or delayed until there is room. @default "drop" */
  readonly excess?: "drop" | "delay" | undefined;
}

/** Keeps one task of a key in the queue. */
export interface Singleton {
  /** Named like an id and scoped to the queue. */
  readonly key: string;
  /** Which task of the key is in the way of another one: one that no consumer has begun, or one that has not ended. */
  readonly while: "waiting" | "unfinished";
  /**
   * What an enqueue does if one is: it drops the new task, replaces the payload and the options of the one that waits,
   * or cancels it. One that works is not replaced: another one waits beside it.
   * @default "drop"
   */
  readonly then?: "drop" | "replace" | "cancel" | undefined;
}

/** Options of an enqueue that may change an earlier task. At most one of them can be given. */
export interface KeyOptions<Keep extends "last" | "first" | "all" = "last" | "first" | "all"> {
  readonly debounce?: Debounce<Keep> | undefined;
  readonly throttle?: Throttle | undefined;
  readonly singleton?: Singleton | undefined;
  /**
   * True replaces the payload and the options of the task with this `id`, if no consumer has begun it.
   * @default false
   */
  readonly replace?: boolean | undefined;
}

/** What an enqueue has done. */
export const keyedOutcomes = ["created", "replaced", "dropped", "appended"] as const;

/**
 * What an enqueue has done. `created`: a task; `replaced`: the payload of one that waits; `dropped`: the new payload, of
 * which nothing is kept; `appended`: the payload, to those of a task that waits.
 */
export type KeyedOutcome = (typeof keyedOutcomes)[number];

/** The result of an enqueue. */
export interface KeyedEnqueued extends Enqueued {
  /** The id of the task concerned: the new one, or the one that was there. */
  readonly id: string;
  readonly outcome: KeyedOutcome;
}

/** Options of one enqueue. */
export type KeyedEnqueueOptions<Keep extends "last" | "first" | "all" = "last" | "first" | "all"> =
  EnqueueOptions & RequestOptions & KeyOptions<Keep>;

/** What one enqueue adds to a list of payloads. */
export type ItemOf<In> = In extends readonly (infer Item)[] ? Item : unknown extends In ? unknown : never;

/** The payload of an enqueue: with `debounce` and `keep: "all"` an item of the list that the task gets. */
export type PayloadFor<In, Options extends KeyOptions> = Options extends {
  readonly debounce: { readonly keep: "all" };
}
  ? ItemOf<In>
  : In;
