/**
 * Moves large payloads to an object store, if a queue has `offload`: a reference travels in their place. This file
 * has only types and small checks, so that a bundle without `offload` does not contain the rest, `src/features/offload`.
 */
import { invalidArgument, SluiceError } from "../../errors.ts";
import type { LeasedPayload } from "../record/leased-payload.ts";
import type { QueueRef } from "../queue-ref.ts";
import type { Adds } from "../store.ts";
import type { Settlement, Settler } from "../options/types.ts";
import type { PlacesOf } from "../shard.ts";
import type { Transport } from "../transport.ts";

/** The queue whose payloads are read. */
export type OffloadingQueue = Omit<QueueRef, "transport">;

/** The tasks of a dequeue with their payloads. */
export interface FetchedTasks<Task> {
  readonly readers: readonly (() => Task)[];
  /** What to settle at once: tasks over `maxBytes` or whose turn came too late, and those with unread objects. */
  readonly handBacks: readonly Settlement[];
  /** When the first of these is ready again, epoch ms by the clock of the leases; undefined if there is none. */
  readonly readyAt: number | undefined;
  /** Why objects could not be read, or leases not be extended, for now; undefined if all were. */
  readonly error: SluiceError | undefined;
}

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
  /**
   * Reads the payloads of leased tasks. Never throws.
   * @param readers one for each task; may throw, and so may those that are returned
   * @param maxBytes most bytes of payloads; at least one task is returned anyway
   * @param settle extends leases, if reading takes long
   */
  fetch<Task extends LeasedPayload>(
    queue: OffloadingQueue,
    readers: readonly (() => Task)[],
    maxBytes: number,
    settle: Settler["settle"],
  ): Promise<FetchedTasks<Task>>;
  /**
   * Reads one payload.
   * @param value a reference, or any other value, which is returned as it is
   * @throws {SluiceError} `offload_failed`
   */
  read(queue: OffloadingQueue, id: string, value: unknown): Promise<unknown>;
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

/** The error for a reference of a queue that has no `offload`. */
export function withoutOffload(): SluiceError {
  return new SluiceError(
    "offload_failed",
    "the payload is in an object store, and this queue has no offload to read it",
  );
}
