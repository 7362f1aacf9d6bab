/** What an encrypted value begins with, each character a byte: NUL and `SLUICE`. */
export const ENVELOPE = "\0SLUICE";

/** The version of the form, the byte behind it. */
export const VERSION = 1;

/** The beginning of an envelope in base64. Encrypted progress is such a text, in JSON. */
export const ENVELOPE_BASE64 = "AFNMVUlDR";

/** What an envelope may have in bytes beyond its value. */
export const ENVELOPE_ROOM = 128;

export const KEY_ID = /^[\w.-]{1,32}$/;

/** Where stands, in one byte, what the value is; and then the length of the key's id, and behind it the id. */
export const KIND_AT = ENVELOPE.length + 1;
export const KEY_ID_AT = KIND_AT + 1;

export function isEnvelope(value: unknown): boolean {
  return value instanceof Uint8Array && textOf(value, 0, ENVELOPE.length) === ENVELOPE;
}

/** True for an envelope of this release's form. */
export function isKnown(envelope: Uint8Array): boolean {
  return envelope[ENVELOPE.length] === VERSION;
}

/** The id of the key that opens an envelope; undefined where none could have it. */
export function keyIdOf(envelope: Uint8Array): string | undefined {
  const from = KEY_ID_AT + 1;
  const id = textOf(envelope, from, from + (envelope[KEY_ID_AT] ?? 0));
  return isKnown(envelope) && KEY_ID.test(id) ? id : undefined;
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
