import { openBy, type ValueOf, type Values } from "../../kernel/values/values.ts";

/**
 * What a value is, and to which task it belongs. An encrypted value can be decrypted in the same context
 * only.
 */
export interface ValueContext extends ValueOf {
  readonly queue: string;
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
  /** The values of a queue, encrypted. */
  values(next: Values, queue: string): Values;
}

/** The encryption of a queue. Null returns envelopes as bytes; undefined throws `undecryptable` for them. */
export type MaybeEncryption = Encryption | null | undefined;

/** The values of a queue, encrypted if it has encryption. */
export function encrypted(next: Values, queue: string, encryption: MaybeEncryption): Values {
  return encryption === null ? asStored(next) : (encryption?.values(next, queue) ?? next);
}

/** Values that are neither encrypted nor decrypted: only their readers have the keys. */
function asStored(next: Values): Values {
  return { ...next, open: openBy("openSealed") };
}
