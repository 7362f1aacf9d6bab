/** The values of a queue on their way to and from its records: payloads, results, errors and progress. */
import type { SluiceError } from "../../errors.ts";
import type { MaybePromise } from "../maybe-promise.ts";
import type { Settlement, Settler } from "../options/types.ts";
import { ENVELOPE_BASE64, isEnvelope } from "../record/envelope.ts";
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
   * @returns the value; no promise if it is stored as it is
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
    open({ kind }, stored) {
      const isSealed =
        kind === "progress"
          ? typeof stored === "string" && stored.startsWith(ENVELOPE_BASE64)
          : isEnvelope(stored);
      return isSealed ? refused(kind, stored) : stored;
    },
  };
}

/**
 * For a value that cannot be opened.
 * @throws {SluiceError} `undecryptable`, `offload_failed`
 */
export async function refused(kind: ValueOf["kind"], stored: unknown): Promise<never> {
  throw (await import("./refusal.ts")).refusalOf(kind, stored);
}
