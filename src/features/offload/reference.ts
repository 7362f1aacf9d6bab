import { SluiceError } from "../../errors.ts";
import { ENVELOPE, REFERENCE, referredBytes } from "../../kernel/record/envelope.ts";
import { asUnreadable } from "../../kernel/record/unreadable.ts";

/**
 * Where a payload is, as its record says. The rest of the object's key is that of the queue and the task, so that a
 * reference never leads to the object of another task.
 */
export interface Reference {
  /** Bytes of the object. */
  readonly length: number;
  readonly sha256: Uint8Array;
  readonly area: string;
  readonly name: string;
}

const LENGTH_AT = ENVELOPE.length + 1;
const HASH_AT = LENGTH_AT + 4;
const NAME_AT = HASH_AT + 32;

const NAME = /^([A-Za-z0-9]{16})([A-Za-z0-9]{16})$/;

export function writeReference({ length, sha256, area, name }: Reference): Uint8Array {
  const bytes = new Uint8Array(NAME_AT + area.length + name.length);
  bytes.set(new TextEncoder().encode(ENVELOPE));
  bytes[ENVELOPE.length] = REFERENCE;
  new DataView(bytes.buffer).setUint32(LENGTH_AT, length);
  bytes.set(sha256, HASH_AT);
  bytes.set(new TextEncoder().encode(area + name), NAME_AT);
  return bytes;
}

/**
 * @param bytes of which `isReference` is true
 * @throws {SluiceError} `offload_failed` if it is damaged
 */
export function readReference(bytes: Uint8Array): Reference {
  const [, area, name] = NAME.exec(new TextDecoder().decode(bytes.subarray(NAME_AT))) ?? [];
  if (area === undefined || name === undefined) {
    throw asUnreadable(new SluiceError("offload_failed", "the reference to the payload's object is damaged"));
  }
  return { length: referredBytes(bytes), sha256: bytes.slice(HASH_AT, NAME_AT), area, name };
}
