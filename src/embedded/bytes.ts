import { Buffer } from "node:buffer";

/**
 * A string of bytes: each character is one byte, from 0 to 255. Keys, members and values of any content are
 * kept exactly, compare in the order of their bytes, and are keys of a Map.
 */
export type Bytes = string;

/** A word of a command: text, which is sent as UTF-8, or bytes. */
export type Word = string | Uint8Array;

// oxlint-disable-next-line no-control-regex -- all of ASCII
const ascii = /^[\u0000-\u007F]*$/;

export function toBytes(word: Word): Bytes {
  if (typeof word !== "string") return viewOf(word).toString("latin1");
  return ascii.test(word) ? word : Buffer.from(word, "utf8").toString("latin1");
}

/** The text of bytes in UTF-8. Invalid bytes become U+FFFD, as in any client that reads text. */
export function toText(bytes: Bytes): string {
  return ascii.test(bytes) ? bytes : Buffer.from(bytes, "latin1").toString("utf8");
}

export const toBuffer = (bytes: Bytes): Buffer => Buffer.from(bytes, "latin1");

const viewOf = (array: Uint8Array): Buffer =>
  Buffer.isBuffer(array) ? array : Buffer.from(array.buffer, array.byteOffset, array.byteLength);
