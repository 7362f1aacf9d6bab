/** Encrypts values before they are stored or sent, if a queue has encryption. */
import type { MaybePromise } from "../maybe-promise.ts";
import type { Transport } from "../transport.ts";
import type { Offload } from "./offload.ts";

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
