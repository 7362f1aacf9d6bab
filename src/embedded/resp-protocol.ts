import { Buffer } from "node:buffer";
import { MissingArray, NoReply, ReplyError, Status, type Value } from "./reply.ts";
import type { Words } from "./words.ts";

/** What a client sent is not RESP. The message is Redis's. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

const LONGEST_INLINE = 64 * 1024;
const MOST_WORDS = 2 ** 31 - 1;
const LONGEST_BULK = 512 * 1024 * 1024;

/** Reads commands from the bytes of a client as they arrive: arrays of bulk strings, or lines of words. */
export class CommandReader {
  #chunks: Buffer[] = [];
  #size = 0;
  /** How many bytes the command at the front needs, as far as is known. */
  #needed = 0;

  /**
   * Adds bytes.
   * @returns the commands that are complete now
   * @throws {ProtocolError}
   */
  read(chunk: Buffer): Words[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    // A large command arrives in many chunks, which are joined once.
    if (this.#size < this.#needed) return [];
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const found: Words[] = [];
    let at = 0;
    this.#needed = 0;
    while (at < bytes.length) {
      const next = bytes[at] === 0x2a ? readArray(bytes, at) : readInline(bytes, at);
      if ("needed" in next) {
        this.#needed = next.needed - at;
        break;
      }
      at = next.end;
      if (next.words.length > 0) found.push(next.words);
    }
    this.#chunks = at < bytes.length ? [bytes.subarray(at)] : [];
    this.#size = bytes.length - at;
    return found;
  }
}

/** A command and the place behind it, or how far the bytes must reach for the next attempt. */
type Next = { readonly words: Words; readonly end: number } | { readonly needed: number };

function readArray(bytes: Buffer, begin: number): Next {
  const head = readLength(bytes, begin, "invalid multibulk length", [-1, MOST_WORDS]);
  if (head === undefined) return { needed: bytes.length + 1 };
  const words: string[] = [];
  let at = head.end;
  for (let left = head.length; left > 0; left--) {
    if (at >= bytes.length) return { needed: bytes.length + 1 };
    if (bytes[at] !== 0x24) {
      throw new ProtocolError(`expected '$', got '${String.fromCharCode(bytes[at] ?? 0)}'`);
    }
    const word = readLength(bytes, at, "invalid bulk length", [0, LONGEST_BULK]);
    if (word === undefined) return { needed: bytes.length + 1 };
    const end = word.end + word.length;
    if (end + 2 > bytes.length) return { needed: end + 2 };
    words.push(bytes.toString("latin1", word.end, end));
    at = end + 2;
  }
  return { words, end: at };
}

function readLength(bytes: Buffer, at: number, problem: string, [least, most]: readonly [number, number]) {
  const line = bytes.indexOf("\r\n", at);
  if (line < 0) return undefined;
  const text = bytes.toString("latin1", at + 1, line);
  const length = Number(text);
  if (!/^-?\d+$/.test(text) || length < least || length > most) throw new ProtocolError(problem);
  return { length: Math.max(length, 0), end: line + 2 };
}

function readInline(bytes: Buffer, at: number): Next {
  const line = bytes.indexOf("\n", at);
  if (line < 0) {
    if (bytes.length - at > LONGEST_INLINE) throw new ProtocolError("too big inline request");
    return { needed: bytes.length + 1 };
  }
  const words = bytes
    .toString("latin1", at, line)
    .split(/\s+/)
    .filter((word) => word !== "");
  return { words, end: line + 1 };
}

/** A reply of RESP2. The bytes are characters of one byte. */
export function encode(value: Value): string {
  if (typeof value === "string") return `$${value.length}\r\n${value}\r\n`;
  if (typeof value === "number" || typeof value === "bigint") return `:${value}\r\n`;
  if (value === null) return "$-1\r\n";
  if (value instanceof Status) return `+${oneLine(value.text)}\r\n`;
  if (value instanceof ReplyError) return `-${oneLine(value.message)}\r\n`;
  if (value instanceof MissingArray) return "*-1\r\n";
  if (value instanceof NoReply) return "";
  let encoded = `*${value.length}\r\n`;
  for (const item of value) encoded += encode(item);
  return encoded;
}

const oneLine = (text: string) => text.replaceAll(/[\r\n]/g, " ");
