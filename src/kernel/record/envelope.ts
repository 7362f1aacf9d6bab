/** The first bytes of an encrypted value, one for each character: NUL and `SLUICE`. */
export const ENVELOPE = "\0SLUICE";

/** The version of the envelope, in the next byte. */
export const VERSION = 1;

/** What that byte is in a reference: a payload whose bytes are in an object store. */
export const REFERENCE = 2;

/** The beginning of an envelope in base64. Encrypted progress is such a text, in JSON. */
export const ENVELOPE_BASE64 = "AFNMVUlDR";

/** Most bytes that an envelope has beyond its value. */
export const ENVELOPE_OVERHEAD = 128;

/** The ids of keys. */
export const KEY_ID = /^[\w.-]{1,32}$/;

/** Offset of the byte with the kind of the value; then the length of the key's id, and the id. */
export const KIND_AT = 8;
export const KEY_ID_AT = 9;

/** Whether a value is encrypted. */
export function isEnvelope(value: unknown): boolean {
  return value instanceof Uint8Array && textOf(value, 0, ENVELOPE.length) === ENVELOPE;
}

/** Whether a value is a reference to an object. */
export function isReference(value: unknown): value is Uint8Array {
  return isEnvelope(value) && (value as Uint8Array)[ENVELOPE.length] === REFERENCE;
}

/** Bytes of the object that a reference refers to. */
export function referredBytes(reference: Uint8Array): number {
  return new DataView(reference.buffer, reference.byteOffset).getUint32(ENVELOPE.length + 1);
}

/** Whether this release can read the envelope. */
export function isKnown(envelope: Uint8Array): boolean {
  return envelope[ENVELOPE.length] === VERSION;
}

/** The id of the key that decrypts an envelope; undefined if the envelope is invalid. */
export function keyIdOf(envelope: Uint8Array): string | undefined {
  const from = KEY_ID_AT + 1;
  const id = textOf(envelope, from, from + (envelope[KEY_ID_AT] ?? 0));
  return isKnown(envelope) && KEY_ID.test(id) ? id : undefined;
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
