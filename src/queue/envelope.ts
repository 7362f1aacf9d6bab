/** What an encrypted value begins with, each character a byte: NUL, `SLUICE`, and the version of the form. */
export const ENVELOPE = "\0SLUICE\u0001";

/** Envelopes of progress, which is JSON, are texts in base64, and begin so. */
export const PROGRESS_ENVELOPE = "AFNMVUlDRQFn";

/** What an envelope may have in bytes beyond its value. */
export const ENVELOPE_ROOM = 128;

export const KEY_ID = /^[\w.-]{1,32}$/;

/** Where the length of the key's id stands, a byte, and behind it the id. */
export const KEY_ID_AT = 9;

export function isEnvelope(value: unknown): boolean {
  return value instanceof Uint8Array && textOf(value, 0, ENVELOPE.length) === ENVELOPE;
}

/** The id of the key that opens an envelope; undefined where none could have it. */
export function keyIdOf(envelope: Uint8Array): string | undefined {
  const from = KEY_ID_AT + 1;
  const id = textOf(envelope, from, from + (envelope[KEY_ID_AT] ?? 0));
  return KEY_ID.test(id) ? id : undefined;
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
