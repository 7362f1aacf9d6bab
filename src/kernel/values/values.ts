/** The values of a queue on their way to and from its records: payloads, results, errors and progress. */
import type { SluiceError } from "../../errors.ts";
import type { MaybePromise } from "../maybe-promise.ts";
import { OnDemand } from "../on-demand.ts";
import type { Settlement, Settler } from "../options/types.ts";
import type { LeasedPayload } from "../record/leased-payload.ts";

/** What a value is, and to which task it belongs. */
export interface ValueOf {
  readonly kind: "payload" | "schedule" | "result" | "error" | "progress";
  /** The id of the task; for the payload of a schedule, the name of the schedule. */
  readonly id: string;
}

/** The tasks of a dequeue with their payloads. */
export interface FetchedTasks<Task> {
  readonly readers: readonly (() => Task)[];
  /** What to settle at once: tasks over `maxBytes` or whose turn came too late, and those with unread payloads. */
  readonly handBacks: readonly Settlement[];
  /** When the first of these is ready again, epoch ms by the clock of the leases; undefined if there is none. */
  readonly readyAt: number | undefined;
  /** Why payloads could not be read, or leases not be extended, for now; undefined if all were. */
  readonly error: SluiceError | undefined;
}

/** How a queue writes and reads values. A feature is a function from values to values. */
export interface Values {
  /** Limit of a payload, bytes. @default 1 MiB */
  readonly maxPayload: number | undefined;
  /** Whether a value is sealed for its task, so that it can be opened for this task only. */
  readonly areSealed: boolean;
  /**
   * Seals a value before it is stored or sent.
   * @param encoded the value as the codec wrote it
   * @param path of the value, for errors
   * @returns what is stored; a promise only if `areSealed`
   */
  readonly seal: (of: ValueOf, encoded: string, path: string) => MaybePromise<string>;
  /**
   * Opens a value that was read.
   * @returns the value; no promise if it is a plain one, neither bytes nor progress
   * @throws {SluiceError} `undecryptable`, `offload_failed`
   */
  readonly open: (of: ValueOf, stored: unknown) => unknown;
  /**
   * Reads the payloads of leased tasks, if some are elsewhere. Never throws.
   * @param readers one for each task; may throw, and so may those that are returned
   * @param maxBytes most bytes of payloads; at least one task is returned anyway
   * @param settle extends leases, if reading takes long
   * @default all are in the records
   */
  readonly fetch?: <Task extends LeasedPayload>(
    readers: readonly (() => Task)[],
    maxBytes: number,
    settle: Settler["settle"],
  ) => Promise<FetchedTasks<Task>>;
}

/**
 * Values that are stored as they are.
 * @param maxPayload limit of a payload, bytes. @default 1 MiB
 */
export function plainValues(maxPayload?: number): Values {
  return {
    maxPayload,
    areSealed: false,
    seal: (_, encoded) => encoded,
    open: openBy("openAsStored"),
  };
}

const opening = new OnDemand(() => import("./open-as-stored.ts"));

/** Opens values by a function that is loaded with the first one that may be sealed or elsewhere. */
export function openBy(name: "openAsStored" | "openSealed"): Values["open"] {
  return ({ kind }, stored) => {
    if (!(stored instanceof Uint8Array) && kind !== "progress") return stored;
    return opening.use((code) => code[name](kind, stored));
  };
}
