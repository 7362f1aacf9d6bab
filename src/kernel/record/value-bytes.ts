import { SluiceError } from "../../errors.ts";
import { fromBase64 } from "../../base64.ts";
import { decodeValue } from "./codec.ts";

const BYTES = 0x62; // "b"

/** The bytes of a value as the codec wrote it: `j` and JSON, or `b` and the bytes themselves, without base64. */
export function toBytes(encoded: string): Uint8Array<ArrayBuffer> {
  if (encoded[0] !== "b") return new TextEncoder().encode(encoded);
  const bytes = fromBase64(encoded.slice(1))!;
  const all = new Uint8Array(bytes.length + 1);
  all[0] = BYTES;
  all.set(bytes, 1);
  return all;
}

/**
 * The value of which {@link toBytes} made the bytes.
 * @throws {SluiceError} `unexpected_reply` if they are neither; the message does not quote them
 */
export function fromBytes(bytes: Uint8Array): unknown {
  if (bytes[0] === BYTES) return bytes.slice(1);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SluiceError("unexpected_reply", "a stored value is neither JSON nor bytes");
  }
  return decodeValue(text);
}
