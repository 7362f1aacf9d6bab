import type { Bytes } from "../bytes.ts";
import { commands, oneKey, type Context, type Words } from "../command.ts";
import { readInteger } from "../numbers.ts";
import { ReplyError, type Value } from "../reply.ts";

const LATEST = 2n ** 63n - 1n;

export const invalidExpiry = (name: string) => new ReplyError(`ERR invalid expire time in '${name}' command`);

/**
 * When a key expires, epoch ms.
 * @param unit EX and PX from now on, EXAT and PXAT since the epoch; in seconds unless it begins with P
 * @throws {ReplyError} if it is not an integer, or not positive for a relative time of SET, or out of range
 */
export function expiryFrom(unit: string, text: Bytes, now: number, name: string): number {
  const value = BigInt(readInteger(text));
  if (value <= 0n && /^(?:p?set|getex)/.test(name)) throw invalidExpiry(name);
  const time = unit.startsWith("P") ? value : value * 1_000n;
  const begin = unit.endsWith("AT") ? 0n : BigInt(Math.floor(now));
  if (time > LATEST - begin || time < -LATEST) throw invalidExpiry(name);
  return Number(time) + (unit.endsWith("AT") ? 0 : now);
}

export const expiryCommands = commands(
  ["@keyspace"],
  [
    ["expire", -3, "write fast", oneKey, (context, words) => expire(context, words, "EX")],
    ["pexpire", -3, "write fast", oneKey, (context, words) => expire(context, words, "PX")],
    ["expireat", -3, "write fast", oneKey, (context, words) => expire(context, words, "EXAT")],
    ["pexpireat", -3, "write fast", oneKey, (context, words) => expire(context, words, "PXAT")],
    ["ttl", 2, "readonly fast", oneKey, (context, words) => expiryOf(context, words, secondsLeft)],
    ["pttl", 2, "readonly fast", oneKey, (context, words) => expiryOf(context, words, (at, now) => at - now)],
    ["expiretime", 2, "readonly fast", oneKey, (context, words) => expiryOf(context, words, secondsOf)],
    ["pexpiretime", 2, "readonly fast", oneKey, (context, words) => expiryOf(context, words, (at) => at)],
    [
      "persist",
      2,
      "write fast",
      oneKey,
      ({ store }, [, key = ""]) => {
        if (store.expiryOf(key) === undefined) return 0;
        store.expire(key, undefined);
        return 1;
      },
    ],
  ],
);

const secondsLeft = (at: number, now: number) => Math.floor((at - now + 500) / 1_000);
const secondsOf = (at: number) => Math.floor((at + 500) / 1_000);

function expire(
  { store }: Context,
  [name = "", key = "", time = "", ...options]: Words,
  unit: string,
): Value {
  const unknown = options.find((option) => !/^(?:NX|XX|GT|LT)$/i.test(option));
  if (unknown !== undefined) throw new ReplyError(`ERR Unsupported option ${unknown}`);
  const given = new Set(options.map((option) => option.toUpperCase()));
  if (given.has("NX") && given.size > 1) {
    throw new ReplyError("ERR NX and XX, GT or LT options at the same time are not compatible");
  }
  if (given.has("GT") && given.has("LT")) {
    throw new ReplyError("ERR GT and LT options at the same time are not compatible");
  }
  const expiresAt = expiryFrom(unit, time, store.now, name.toLowerCase());
  if (!store.has(key)) return 0;
  const old = store.expiryOf(key);
  const refused =
    (given.has("NX") && old !== undefined) ||
    (given.has("XX") && old === undefined) ||
    (given.has("GT") && (old === undefined || expiresAt <= old)) ||
    (given.has("LT") && old !== undefined && expiresAt >= old);
  if (refused) return 0;
  store.expire(key, expiresAt);
  return 1;
}

/** -2 if there is no such key, -1 if it does not expire. */
function expiryOf(
  { store }: Context,
  [, key = ""]: Words,
  toReply: (at: number, now: number) => number,
): Value {
  if (!store.has(key)) return -2;
  const at = store.expiryOf(key);
  return at === undefined ? -1 : toReply(at, store.now);
}
