/** Where values are encrypted on their way out, and decrypted on their way in, for those who want that. */
import { invalidArgument, SluiceError } from "../../errors.ts";
import { isEnvelope, keyIdOf, ENVELOPE_BASE64 } from "../core/envelope.ts";
import type { MaybePromise } from "../core/maybe-promise.ts";
import { readReceipt } from "../core/receipt.ts";
import type { Settlement, TaskInfo } from "../core/types.ts";

/** What a value is, and whose: encrypted, it opens nowhere else. */
export interface Place {
  readonly kind: "payload" | "schedule" | "result" | "error" | "progress";
  readonly queue: string;
  /** The task's; of a schedule's payload the schedule's name. */
  readonly id: string;
}

/** Makes of values what Redis and the HTTP interface may see, and back. */
export interface Encryption {
  /**
   * @param encoded as the codec wrote it
   * @param path of the value, for errors
   * @returns the same of its envelope, or of itself where nothing is to be encrypted yet
   * @throws {SluiceError} `too_large`, for progress: its envelope may be no larger than itself
   */
  seal(encoded: string, place: Place, path: string): Promise<string>;
  /** @throws {SluiceError} `undecryptable` */
  open(value: unknown, place: Place): Promise<unknown>;
}

/** Of a queue: null gives envelopes as they are, undefined takes them for what it cannot read. */
export type MaybeEncryption = Encryption | null | undefined;

/** A queue whose tasks have values. */
export interface ValuesQueue {
  readonly name: string;
  readonly encryption: MaybeEncryption;
}

/** @throws {SluiceError} `invalid_argument` */
export function checkedEncryption(value: MaybeEncryption): MaybeEncryption {
  return value === undefined || value === null ? value : requiredEncryption(value, "encryption");
}

/** @throws {SluiceError} `invalid_argument`, also where there is none */
export function requiredEncryption(value: MaybeEncryption, path: string): Encryption {
  if (typeof value?.seal === "function") return value;
  throw invalidArgument(path, "must be what encryption() of sluice-queue/encryption makes");
}

/** Which value each outcome brings. */
const VALUES = { complete: "result", reject: "error", requeue: "error", extend: "progress" } as const;

/** What is stored, or sent, of a value as the codec wrote it. Without encryption it is no promise. */
export function sealed(
  { name: queue, encryption }: ValuesQueue,
  { kind, id }: Pick<Place, "kind" | "id">,
  encoded: string,
  path: string,
): MaybePromise<string> {
  return encryption ? encryption.seal(encoded, { kind, queue, id }, path) : encoded;
}

/**
 * What is stored, or sent, of a settlement's value as the codec wrote it.
 * @throws {SluiceError} `too_large`, for progress
 */
export function sealedText(
  queue: ValuesQueue,
  settlement: Settlement,
  encoded: string,
  at: string,
): MaybePromise<string> {
  if (!queue.encryption || encoded === "") return encoded;
  // Why a value cannot be decrypted is for those to read who have no key, and says nothing of it.
  if ("error" in settlement && isUndecryptable(settlement.error)) return encoded;
  const kind = VALUES[settlement.outcome];
  const { id } = readReceipt(settlement.receipt, `${at}.receipt`);
  return sealed(queue, { kind, id }, encoded, `${at}.${kind}`);
}

/**
 * The value within an envelope; any other as it is. Where nothing is to be decrypted it is no promise: what is plain
 * waits for nothing.
 * @throws {SluiceError} `undecryptable`
 */
export function opened(encryption: MaybeEncryption, value: unknown, place: Place): unknown {
  if (encryption) return decrypted(encryption, value, place);
  const isSealed =
    place.kind === "progress"
      ? typeof value === "string" && value.startsWith(ENVELOPE_BASE64)
      : isEnvelope(value);
  if (encryption === null || !isSealed) return value;
  return refuse(undecryptable(place, `it is ${keyOf(value)}, and this queue was given no encryption`));
}

async function decrypted(encryption: Encryption, value: unknown, place: Place): Promise<unknown> {
  try {
    return await encryption.open(value, place);
  } catch (error) {
    return refuse(error);
  }
}

function refuse(error: unknown): never {
  if ((error as SluiceError).code === "undecryptable") refusals.add(error as SluiceError);
  throw error;
}

/**
 * A task with its values opened.
 * @param id by which the task was asked for
 * @throws {SluiceError} `undecryptable`
 */
export async function openedTask<T extends TaskInfo & { readonly payload?: unknown }>(
  { name: queue, encryption }: ValuesQueue,
  task: T,
  id: string,
): Promise<T> {
  const values: Record<string, unknown> = {};
  for (const kind of ["payload", "result", "error", "progress"] as const) {
    if (task[kind] !== undefined) values[kind] = await opened(encryption, task[kind], { kind, queue, id });
  }
  return { ...task, ...values };
}

/** By what a value is encrypted, for errors. */
export function keyOf(envelope: unknown): string {
  const id = envelope instanceof Uint8Array ? keyIdOf(envelope) : undefined;
  return id === undefined ? "encrypted" : `encrypted with the key "${id}"`;
}

/** Why a value cannot be decrypted, in words that say nothing of it. */
export function undecryptable({ kind }: Place, why: string): SluiceError {
  const what = kind === "schedule" ? "payload" : kind;
  return new SluiceError("undecryptable", `the ${what} cannot be decrypted: ${why}`);
}

/** What {@link opened} threw. Any other error may quote a value, whatever code it has. */
const refusals = new WeakSet<SluiceError>();

/** Whether it is an `undecryptable` of {@link opened}, which says nothing of a value. */
export function isUndecryptable(error: unknown): error is SluiceError {
  return refusals.has(error as SluiceError);
}
