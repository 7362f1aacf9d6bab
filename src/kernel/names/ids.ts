/** The alphabet of ids and tokens, in ASCII order, so that ids sort by time. */
export const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const TIME_LENGTH = 8;
const RANDOM_LENGTH = 12;

/** Random bytes are drawn in blocks, because the call costs more than the bytes. */
const block = new Uint8Array(256);
let unused = 0;
let drawnAt = 0;

function randomByte(): number {
  if (unused === 0) {
    crypto.getRandomValues(block);
    unused = block.length;
  }
  return block[--unused] as number;
}

function randomDigits(length: number, nowMs: number): string {
  // A block is used for one millisecond only, so that a copy of the process does not repeat its bytes.
  if (nowMs !== drawnAt) unused = 0;
  drawnAt = nowMs;
  let digits = "";
  while (digits.length < length) {
    const byte = randomByte();
    // 248 = 4 * 62: the bytes above it would favour the first digits.
    if (byte < 248) digits += DIGITS[byte % 62];
  }
  return digits;
}

/** An instant as ids begin with it. */
export function timeDigits(ms: number): string {
  let digits = "";
  for (let rest = ms; digits.length < TIME_LENGTH; rest = Math.floor(rest / 62)) {
    digits = DIGITS[rest % 62] + digits;
  }
  return digits;
}

/** The next text of the same length in the order of DIGITS; wraps around at the last. */
function successor(digits: string): string {
  if (digits === "") return "";
  const front = digits.slice(0, -1);
  const next = DIGITS[DIGITS.indexOf(digits.slice(-1)) + 1];
  return next ? front + next : successor(front) + "0";
}

let lastMs = 0;
let lastTime = "";
let lastRandom = "";

/**
 * A new task id: 20 characters, 8 of time and 12 random ones (71 bits). It sorts after all earlier ids of
 * this process. The time only orders ids; no deadline depends on it.
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

/** A new token of a lease or an enqueue: 16 characters, 95 random bits. */
export function newToken(): string {
  return randomDigits(16, Date.now());
}
