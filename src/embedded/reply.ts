import type { Bytes } from "./bytes.ts";

/** A status reply, such as OK. */
export class Status {
  readonly text: Bytes;
  constructor(text: Bytes) {
    this.text = text;
  }
}

/** An error reply. A command throws it or returns it. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
}

/** The missing array, which RESP2 distinguishes from the missing string `null`. */
export class MissingArray {
  readonly kind = "missing array";
}

/** In place of the reply of a command whose replies were pushed. */
export class NoReply {
  readonly kind = "no reply";
}

/** A reply of the database in the terms of RESP2. A string is a bulk string, a bigint an integer beyond 2^53. */
export type Value =
  | Bytes
  | number
  | bigint
  | null
  | Status
  | ReplyError
  | MissingArray
  | NoReply
  | readonly Value[];

export const OK = new Status("OK");
export const QUEUED = new Status("QUEUED");
export const missingArray = new MissingArray();
export const noReply = new NoReply();

export const wrongType = () =>
  new ReplyError("WRONGTYPE Operation against a key holding the wrong kind of value");
export const syntaxError = () => new ReplyError("ERR syntax error");
export const notInteger = () => new ReplyError("ERR value is not an integer or out of range");
export const notFloat = () => new ReplyError("ERR value is not a valid float");
export const noSuchKey = () => new ReplyError("ERR no such key");
export const outOfRange = () => new ReplyError("ERR index out of range");
export const wrongArity = (name: string) =>
  new ReplyError(`ERR wrong number of arguments for '${name}' command`);
