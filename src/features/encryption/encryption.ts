import type { SluiceError } from "../../errors.ts";
import { isReference } from "../../kernel/record/envelope.ts";
import { asUnreadable } from "../../kernel/record/unreadable.ts";
import { refuseReference, type ValueOf, type Values } from "../../kernel/values/values.ts";

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
}

/** The encryption of a queue. Null returns envelopes as bytes; undefined throws `undecryptable` for them. */
export type MaybeEncryption = Encryption | null | undefined;

/** The values of a queue, encrypted. */
export function encrypted(next: Values, queue: string, encryption: MaybeEncryption): Values {
  if (encryption === undefined) return next;
  if (encryption === null) return asStored(next);
  return {
    ...next,
    areSealed: true,
    seal: ({ kind, id }, encoded, path) => {
      const limit = kind === "payload" ? next.maxPayload : undefined;
      return encryption.encrypt(encoded, { kind, queue, id }, path, limit);
    },
    open: (of, stored) => {
      return isReference(stored) ? next.open(of, stored) : decrypted(encryption, { ...of, queue }, stored);
    },
  };
}

/** Values that are neither encrypted nor decrypted: only their readers have the keys. */
function asStored(next: Values): Values {
  return {
    ...next,
    open(_, stored) {
      refuseReference(stored);
      return stored;
    },
  };
}

async function decrypted(encryption: Encryption, context: ValueContext, value: unknown): Promise<unknown> {
  try {
    return await encryption.decrypt(value, context);
  } catch (error) {
    throw (error as SluiceError).code === "undecryptable" ? asUnreadable(error as SluiceError) : error;
  }
}
