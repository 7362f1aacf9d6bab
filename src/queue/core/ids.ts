/** The alphabet of ids and tokens, in ASCII order, so that ids sort by time. */
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const TIME_LENGTH = 8;
const RANDOM_LENGTH = 12;

/** Chance is drawn in blocks: asking for it costs more than the bytes do. */
const block = new Uint8Array(256);
let unspent = 0;
let drawnAt = 0;

/** One byte of chance. A block lasts a millisecond, so that what was copied with its process gives nothing twice. */
function randomByte(): number {
  if (unspent === 0) {
    crypto.getRandomValues(block);
    unspent = block.length;
  }
  return block[--unspent] as number;
}

function randomDigits(length: number, nowMs: number): string {
  if (nowMs !== drawnAt) unspent = 0;
  drawnAt = nowMs;
  let digits = "";
  while (digits.length < length) {
    const byte = randomByte();
    // 248 = 4 * 62: bytes above would favour the first digits.
    if (byte < 248) digits += DIGITS[byte % 62];
  }
  return digits;
}

function timeDigits(ms: number): string {
  let digits = "";
  for (let rest = ms; digits.length < TIME_LENGTH; rest = Math.floor(rest / 62)) {
    digits = DIGITS[rest % 62] + digits;
  }
  return digits;
}

/** The next text of the same length in the order of DIGITS; wraps around at the last. */
function successor(digits: string): string {
  for (let i = digits.length - 1; i >= 0; i--) {
    const next = DIGITS.indexOf(digits[i] as string) + 1;
    if (next < DIGITS.length) return digits.slice(0, i) + DIGITS[next] + "0".repeat(digits.length - 1 - i);
  }
  return "0".repeat(digits.length);
}

let lastMs = 0;
let lastTime = "";
let lastRandom = "";

/**
 * A new task id: 20 characters, 8 of time and 12 of chance (71 bits), rising within a process. The
 * time in it orders ids; no deadline rests on it.
 */
export function newTaskId(nowMs: number = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    lastTime = timeDigits(nowMs);
    lastRandom = randomDigits(RANDOM_LENGTH, nowMs);
  } else {
    lastRandom = successor(lastRandom);
  }
  return lastTime + lastRandom;
}

/** A new lease or enqueue token: 16 characters, 95 bits of chance. */
export function newToken(): string {
  return randomDigits(16, Date.now());
}

/**
 * Names that are the same for the same parts, and for no others: how an idempotency key becomes ids
 * and tokens. 22 characters, 131 bits of a SHA-256.
 */
export async function derivedName(...parts: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  let number = 0n;
  for (const byte of hash) number = number * 256n + BigInt(byte);
  let name = "";
  for (; name.length < 22; number /= 62n) name += DIGITS[Number(number % 62n)];
  return name;
}

/**
 * Ids for tasks that are sent with an idempotency key and have no id of their own, 22 characters each. Queue, key and
 * place in the batch decide the id. Ids rise with the place, so tasks of a batch that are due together keep its order.
 * @returns the id for a place, from 0 to 3,843
 */
export async function derivedTaskIds(queue: string, key: string): Promise<(place: number) => string> {
  const front = (await derivedName("id", queue, key)).slice(0, 20);
  return (place) => `${front}${DIGITS[Math.floor(place / 62)]}${DIGITS[place % 62]}`;
}
