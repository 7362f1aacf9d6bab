/** What a feature does in a sweep, beside the sweep of each queue. */
import type { Shard } from "../kernel/shard.ts";
import type { Command, Transport } from "../kernel/transport.ts";
import type { RegisteredShard, RegistryPage } from "./registry.ts";
import type { SweepOptions } from "./types.ts";

/** Begins the part of a feature in one sweep. Sends nothing. */
export type SweepPart = (sweep: CurrentSweep) => PartOfSweep;

/** The part of a feature in one sweep. Each method but the last is called for each page of the registry. */
export interface PartOfSweep {
  /**
   * Before the queues of the page are swept.
   * @returns the names of queues that have got tasks: they are swept, too
   */
  readonly before?: (page: RegistryPage) => Promise<ReadonlySet<string>>;
  /**
   * What to send in one request with the other notes in the registry.
   * @param empty queues of the page that hold nothing
   */
  readonly notesOf?: (empty: readonly RegisteredShard[]) => readonly Command[];
  /** After the queues of the page were swept. */
  readonly after?: (page: RegistryPage) => Promise<void>;
  /** At the end. @returns what it adds to the report */
  readonly finish?: () => object | Promise<object>;
}

/** A sweep as its parts see it. Queues have the names of the registry: `emails`, or `emails/3` for a partition. */
export interface CurrentSweep {
  /** A part may replace it when it begins, such as by one with the linked edition of the scripts. */
  transport: Transport;
  readonly options: SweepOptions;
  /** The test clock as the scripts take it; empty for Redis's own time. */
  readonly testNow: string;
  /** The only queue to sweep; undefined if all are. */
  readonly only: string | undefined;
  /** Most tasks of each kind that one script call moves. */
  readonly limit: number;
  /** When it began, on the clock of `performance.now()`. */
  readonly begunAt: number;
  /** When to stop, on the same clock. */
  readonly deadline: number;
  readonly isWanted: (name: string) => boolean;
  /** How long a wake of the queue's consumer counts, ms, as the scripts take it; empty if it is not woken. */
  readonly wakeWindow: (queue: string) => string;
  readonly shardOf: (name: string) => Shard;
  /** Queues that could not be swept completely, and the code of the error. */
  readonly failed: Map<string, string>;
  /** The same for what a part does before the queue is swept. The codes in `failed` take precedence. */
  readonly failedParts: Map<string, string>;
  /** Queues whose own keys hold values of another type: markers, if they have got partitions. */
  readonly marked: Set<string>;
  /** Queues, not partitions, whose consumer is woken at the end. */
  readonly toWake: Set<string>;
  /** Whether work is left for the next sweep. */
  more: boolean;
  /** Notes when a queue must be swept next, epoch ms; ignored for an instant that never comes. */
  remind(name: string, at: number): void;
}
