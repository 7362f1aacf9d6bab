import { Buffer } from "node:buffer";
import type { Bytes } from "../bytes.ts";
import { formatDouble } from "../numbers.ts";
import { MissingArray, NoReply, ReplyError, Status, type Value } from "../reply.ts";
import type { Lua } from "./wasm.ts";

// The form in which words and replies go into and out of the memory of Lua. A reply is a tag, the length of what
// follows or the number of items, and that. All numbers are little-endian.
const NIL = 0;
const INTEGER = 1;
const BULK = 2;
const ARRAY = 3;
const STATUS = 4;
const ERROR = 5;
const FAILURE = 6;
const BOOLEAN = 7;
const DOUBLE = 8;
const MAP = 9;
const SET = 10;
const BIG_NUMBER = 11;
const VERBATIM = 12;
const HEAD = 5;

/** The memory of Lua. */
export class LuaMemory {
  readonly #lua: () => Lua;
  #view = Buffer.alloc(0);

  constructor(lua: () => Lua) {
    this.#lua = lua;
  }

  /** All of it, until Lua next runs: its buffer is replaced when it grows. */
  get bytes(): Buffer {
    if (this.#view.length === 0) this.#view = Buffer.from(this.#lua().memory.buffer);
    return this.#view;
  }

  /** Copies bytes into new memory, and writes their address and length to `result`. */
  reply(result: number, content: Buffer): void {
    const address = this.#lua().alloc(content.length);
    const { bytes } = this;
    bytes.set(content, address);
    bytes.writeUInt32LE(address, result);
    bytes.writeUInt32LE(content.length, result + 4);
  }
}

/** Reads a list of words: their number, and each with its length in front. */
export function readWords(bytes: Buffer, address: number): Bytes[] {
  const count = bytes.readUInt32LE(address);
  const words: Bytes[] = [];
  let at = address + 4;
  for (let index = 0; index < count; index++) {
    const length = bytes.readUInt32LE(at);
    at += 4;
    words.push(bytes.toString("latin1", at, at + length));
    at += length;
  }
  return words;
}

export const sizeOfWords = (words: readonly Bytes[]): number =>
  words.reduce((size, word) => size + 4 + word.length, 4);

/** Writes a list of words. Needs as many bytes as {@link sizeOfWords}. */
export function writeWords(bytes: Buffer, address: number, words: readonly Bytes[]): void {
  bytes.writeUInt32LE(words.length, address);
  let at = address + 4;
  for (const word of words) {
    bytes.writeUInt32LE(word.length, at);
    bytes.write(word, at + 4, "latin1");
    at += 4 + word.length;
  }
}

/** A reply as Lua reads it. Of an integer beyond 2^53 Lua gets the nearest double, as from Redis. */
export function encodeReply(value: Value): Buffer {
  const bytes = Buffer.allocUnsafe(sizeOf(value));
  write(bytes, 0, value);
  return bytes;
}

const isNil = (value: Value): value is null | MissingArray | NoReply =>
  value === null || value instanceof MissingArray || value instanceof NoReply;

function sizeOf(value: Value): number {
  if (typeof value === "string") return HEAD + value.length;
  if (isNil(value)) return HEAD;
  if (typeof value === "number" || typeof value === "bigint") return HEAD + 8;
  if (value instanceof Status) return HEAD + value.text.length;
  if (value instanceof ReplyError) return HEAD + value.message.length;
  return value.reduce((size: number, item) => size + sizeOf(item), HEAD);
}

/** @returns the place behind it */
function write(bytes: Buffer, at: number, value: Value): number {
  if (typeof value === "string") return writeText(bytes, at, BULK, value);
  if (isNil(value)) return writeHead(bytes, at, NIL, 0);
  if (typeof value === "number" || typeof value === "bigint") {
    bytes.writeBigInt64LE(BigInt(value), writeHead(bytes, at, INTEGER, 8));
    return at + HEAD + 8;
  }
  if (value instanceof Status) return writeText(bytes, at, STATUS, value.text);
  if (value instanceof ReplyError) return writeText(bytes, at, ERROR, value.message);
  let end = writeHead(bytes, at, ARRAY, value.length);
  for (const item of value) end = write(bytes, end, item);
  return end;
}

function writeHead(bytes: Buffer, at: number, tag: number, length: number): number {
  bytes[at] = tag;
  return bytes.writeUInt32LE(length, at + 1);
}

function writeText(bytes: Buffer, at: number, tag: number, text: Bytes): number {
  const begin = writeHead(bytes, at, tag, text.length);
  return begin + bytes.write(text, begin, "latin1");
}

/** Reads a reply of Lua. */
export function decodeReply(bytes: Buffer, address: number): Value {
  return read(bytes, { at: address });
}

function read(bytes: Buffer, place: { at: number }): Value {
  const tag = bytes[place.at];
  const length = bytes.readUInt32LE(place.at + 1);
  const begin = place.at + HEAD;
  place.at = begin;
  if (tag === NIL) return null;
  if (tag === ARRAY || tag === SET || tag === MAP) {
    const items: Value[] = [];
    for (let left = tag === MAP ? 2 * length : length; left > 0; left--) items.push(read(bytes, place));
    return items;
  }
  place.at = begin + length;
  if (tag === INTEGER) {
    const integer = bytes.readBigInt64LE(begin);
    const number = Number(integer);
    return Number.isSafeInteger(number) ? number : integer;
  }
  // Kinds of RESP3 as RESP2 has them.
  if (tag === BOOLEAN) return bytes[begin] === 1 ? 1 : null;
  if (tag === DOUBLE) return formatDouble(bytes.readDoubleLE(begin));
  if (tag === VERBATIM)
    return bytes.toString("latin1", begin + 4 + bytes.readUInt32LE(begin), begin + length);
  const text = bytes.toString("latin1", begin + (tag === FAILURE ? 4 : 0), begin + length);
  if (tag === BULK || tag === BIG_NUMBER) return text;
  if (tag === STATUS) return new Status(text);
  if (tag === ERROR || tag === FAILURE) return new ReplyError(text);
  throw new Error(`Lua returned a reply of the unknown kind ${tag}`);
}
