/**
 * Encrypts values before they are stored or sent, and decrypts them when they are read, if a queue has
 * encryption.
 */
import { SluiceError } from "../../errors.ts";
import { isEnvelope, isReference, keyIdOf, ENVELOPE_BASE64 } from "../core/envelope.ts";
import type { MaybePromise } from "../core/maybe-promise.ts";
import { readReceipt } from "../core/receipt.ts";
import { errorText } from "../core/error-text.ts";
import type { AttemptError, TaskInfo } from "../core/task-info.ts";
import type { Settlement } from "../core/types.ts";
import type { Transport } from "../redis/transport.ts";
import { type Offload, withoutOffload } from "./offload.ts";

/**
 * What a value is, and to which task it belongs. An encrypted value can be decrypted in the same context
 * only.
 */
export interface ValueContext {
  readonly kind: "payload" | "schedule" | "result" | "error" | "progress";
  readonly queue: string;
  /** The id of the task; for the payload of a schedule, the name of the schedule. */
  readonly id: string;
}

/** Encrypts and decrypts values. `encryption()` of `sluice-queue/encryption` makes one. */
export interface Encryption {
  /**
   * Encrypts a value.
   * @param encoded the value as the codec wrote it
   * @param path of the value, for errors
   * @param limit of the value, bytes; progress has its own. @default 1 MiB
   * @returns the envelope as the codec writes it; `encoded` itself if there is no current key
   * @throws {SluiceError} `too_large`, for progress: its limit counts the envelope
   */
  encrypt(encoded: string, context: ValueContext, path: string, limit?: number): Promise<string>;
  /**
   * Decrypts a value.
   * @param value an envelope, or a plain value
   * @throws {SluiceError} `undecryptable`
   */
  decrypt(value: unknown, context: ValueContext): Promise<unknown>;
}

/** The encryption of a queue. Null returns envelopes as bytes; undefined throws `undecryptable` for them. */
export type MaybeEncryption = Encryption | null | undefined;

/** What the values of a queue need to be encrypted and decrypted. */
export interface ValuesQueue {
  readonly name: string;
  readonly encryption: MaybeEncryption;
  /** First part of every key. @default "sluice" */
  readonly prefix?: string | undefined;
  /** How to reach Redis, if the queue has `offload`. */
  readonly transport?: Transport | undefined;
  /** Moves large payloads to an object store. @default none: references cannot be read */
  readonly offload?: Offload | undefined;
  /** Limit of a payload, bytes. @default 1 MiB */
  readonly maxPayload?: number | undefined;
  /** For tests only: the clock (epoch ms). */
  readonly now?: (() => number) | undefined;
}

/** The kind of value that each outcome has. */
const KIND_OF_OUTCOME = {
  complete: "result",
  reject: "error",
  requeue: "error",
  extend: "progress",
} as const;

/**
 * Encrypts a value. Without encryption it returns the value itself, not a promise.
 * @param encoded the value as the codec wrote it
 */
export function encryptValue(
  { name: queue, encryption, maxPayload }: ValuesQueue,
  { kind, id }: Pick<ValueContext, "kind" | "id">,
  encoded: string,
  path: string,
): MaybePromise<string> {
  const limit = kind === "payload" ? maxPayload : undefined;
  return encryption ? encryption.encrypt(encoded, { kind, queue, id }, path, limit) : encoded;
}

/**
 * Encrypts the result, error or progress of a settlement.
 * @param encoded the value as the codec wrote it; empty if there is none
 * @param at path of the settlement, for errors
 * @throws {SluiceError} `too_large`, for progress
 */
export function encryptSettlementValue(
  queue: ValuesQueue,
  settlement: Settlement,
  encoded: string,
  at: string,
): MaybePromise<string> {
  if (!queue.encryption || encoded === "") return encoded;
  // Such an error does not quote the value, and must be readable without the key.
  if ("error" in settlement && isUnreadable(settlement.error)) return encoded;
  const kind = KIND_OF_OUTCOME[settlement.outcome];
  const { id } = readReceipt(settlement.receipt, `${at}.receipt`);
  return encryptValue(queue, { kind, id }, encoded, `${at}.${kind}`);
}

/**
 * Decrypts an envelope, and returns any other value as it is. Without encryption the result is not a promise.
 * @throws {SluiceError} `undecryptable`; `offload_failed` for a reference that was not read before
 */
export function decryptValue(encryption: MaybeEncryption, value: unknown, context: ValueContext): unknown {
  if (isReference(value)) throw asUnreadable(withoutOffload());
  if (encryption) return decrypted(encryption, value, context);
  const isEncrypted =
    context.kind === "progress"
      ? typeof value === "string" && value.startsWith(ENVELOPE_BASE64)
      : isEnvelope(value);
  if (encryption === null || !isEncrypted) return value;
  throw asUnreadable(undecryptable(context, `it is ${describeKey(value)}, and this queue has no encryption`));
}

async function decrypted(encryption: Encryption, value: unknown, context: ValueContext): Promise<unknown> {
  try {
    return await encryption.decrypt(value, context);
  } catch (error) {
    throw (error as SluiceError).code === "undecryptable" ? asUnreadable(error as SluiceError) : error;
  }
}

/** Marks an error as one that says why a value cannot be read, and does not quote it. */
export function asUnreadable(error: SluiceError): SluiceError {
  unreadableErrors.add(error);
  return error;
}

/**
 * Decrypts the values of a task. Reads its payload from the object store if it is there.
 * @param id the id for which the task was requested: an untrusted server may reply with another one
 * @throws {SluiceError} `undecryptable`, `offload_failed`
 */
export async function decryptTask<T extends TaskInfo>(
  values: ValuesQueue,
  stored: T,
  id: string,
): Promise<T> {
  const { name: queue, encryption, offload } = values;
  const payload = offload ? await offload.read(values, id, stored.payload) : stored.payload;
  const task = { ...stored, ...(payload !== undefined && { payload }) };
  const decrypted: Record<string, unknown> = {};
  for (const kind of ["payload", "result", "error", "progress"] as const) {
    if (task[kind] !== undefined)
      decrypted[kind] = await decryptValue(encryption, task[kind], { kind, queue, id });
  }
  const errors: AttemptError[] = [];
  for (const one of task.errors)
    errors.push({ ...one, error: await decryptErrorText(queue, encryption, one, id) });
  return { ...task, ...decrypted, errors };
}

async function decryptErrorText(
  queue: string,
  encryption: MaybeEncryption,
  { error }: AttemptError,
  id: string,
): Promise<AttemptError["error"]> {
  if (!(error instanceof Uint8Array)) return error;
  const value = await decryptValue(encryption, error, { kind: "error", queue, id });
  return isEnvelope(value) ? (value as Uint8Array) : errorText(value);
}

/** Describes how a value is encrypted, for errors. */
export function describeKey(envelope: unknown): string {
  const id = envelope instanceof Uint8Array ? keyIdOf(envelope) : undefined;
  return id === undefined ? "encrypted" : `encrypted with the key "${id}"`;
}

/** The error for a value that cannot be decrypted. It does not quote the value. */
export function undecryptable({ kind }: ValueContext, why: string): SluiceError {
  const what = kind === "schedule" ? "payload" : kind;
  return new SluiceError("undecryptable", `the ${what} cannot be decrypted: ${why}`);
}

/** The errors of {@link asUnreadable}. Any other error may quote a value, even one with the same code. */
const unreadableErrors = new WeakSet<SluiceError>();

/** Whether an error says why a value cannot be decrypted or read from an object store, and does not quote it. */
export function isUnreadable(error: unknown): error is SluiceError {
  return unreadableErrors.has(error as SluiceError);
}
