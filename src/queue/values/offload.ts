/**
 * Moves large payloads to an object store, if a queue has `offload`: a reference travels in their place. This file
 * has only types and small checks, so that a bundle without `offload` does not contain the rest, `src/offload`.
 */
import { invalidArgument, SluiceError } from "../../errors.ts";
import type { LeasedPayload } from "../core/leased-payload.ts";
import type { Settled, Settlement, Settler } from "../core/types.ts";
import type { Transport } from "../redis/transport.ts";

/** The queue whose payloads are moved. */
export interface OffloadingQueue {
  readonly name: string;
  /** First part of every key. @default "sluice" */
  readonly prefix?: string | undefined;
  /** Needed to write. */
  readonly transport?: Transport | undefined;
  /** For tests only: the clock (epoch ms). */
  readonly now?: (() => number) | undefined;
}

/** An object that was written for a task which is not enqueued yet. */
export interface NewObject {
  readonly key: string;
  /** Epoch ms, by the clock of this process. */
  readonly writtenAt: number;
}

/** A payload as its record holds it: itself, or a reference to the object. */
export interface StoredPayload {
  /** As the codec writes it. */
  readonly text: string;
  /** Undefined if the payload is in the record. */
  readonly object?: NewObject | undefined;
}

/** An enqueue of tasks, some of which have objects. */
export interface ObjectsOfEnqueue {
  /** To be called each time a copy of the request is sent. */
  readonly onSend: () => void;
  /**
   * Removes the objects of tasks that were not added. Never throws.
   * @param isNotAdded whether it is certain that the enqueue has not added the task at an index
   */
  readonly finish: (isNotAdded: (index: number) => boolean) => Promise<void>;
}

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
   * Writes the payloads that are too large for Redis.
   * @param payloads as the codec or the encryption wrote them, with the ids of their tasks
   * @returns what the records hold, in the same order
   * @throws {SluiceError} `offload_failed`, or a fault of the transport; nothing is left in the store, as far as it
   *   can be reached
   */
  write(
    queue: OffloadingQueue,
    payloads: readonly { readonly id: string; readonly text: string }[],
  ): Promise<readonly StoredPayload[]>;
  /**
   * Begins an enqueue.
   * @returns undefined if no item has an object
   * @throws {SluiceError} `offload_failed` if an object was written so long ago that a sweep may remove it
   */
  enqueueing(items: readonly { readonly object?: NewObject | undefined }[]): ObjectsOfEnqueue | undefined;
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
  /** Removes the objects of tasks that this process has dequeued and that keep no payload. Never throws. */
  settled(settlements: readonly Settlement[], settled: readonly Settled[]): Promise<void>;
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
