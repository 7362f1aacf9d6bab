import { invalidArgument } from "../../errors.ts";
import type { QueueRef } from "../../kernel/queue-ref.ts";
import type { PlacesOf } from "../../kernel/shard.ts";
import type { Adds } from "../../kernel/store.ts";
import type { Transport } from "../../kernel/transport.ts";
import type { Values } from "../../kernel/values/values.ts";

/** What a pass over an object store did. */
export interface OrphanReport {
  /** How many objects the pass has looked at. */
  readonly checked: number;
  /** How many of them were removed, because no task needs them any more. */
  readonly removed: number;
  /** Why the pass ended early; undefined if it did not. */
  readonly error?: string | undefined;
}

/** How a pass over an object store reaches Redis, and when it ends. */
export interface OrphanPassOptions {
  readonly placesOf: PlacesOf;
  readonly transport: Transport;
  readonly prefix?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** On the clock of `performance.now()`. */
  readonly until: number;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/** Keeps large payloads in an object store. `offload()` of `sluice-queue/offload` makes one. */
export interface Offload {
  /** Limit of a payload, bytes. */
  readonly maxBytes: number;
  /**
   * The store of a queue that moves payloads too large for Redis to the object store. It removes the objects of tasks
   * that were not added, and of those that this process has dequeued and that keep no payload.
   */
  layer<S extends Adds>(next: S): S;
  /** The values of the queue, of which some are in the object store. */
  values(next: Values, queue: QueueRef): Values;
  /**
   * Looks at a page of the store, and removes objects that no task needs. A fault is in the report.
   * @throws {SluiceError} `aborted`
   */
  removeOrphans(options: OrphanPassOptions): Promise<OrphanReport>;
}

/** @throws {SluiceError} `invalid_argument` */
export function checkedOffload(value: Offload | undefined, path = "offload"): Offload | undefined {
  if (value === undefined || typeof value?.removeOrphans === "function") return value;
  throw invalidArgument(path, "must be made by offload() of sluice-queue/offload");
}
