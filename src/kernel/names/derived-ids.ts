import { DIGITS } from "./ids.ts";

/**
 * A name that derives from texts: the same for the same texts, and different for others. It makes the ids and
 * tokens of a call with an idempotency key. 22 characters, 131 bits of a SHA-256.
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
 * Ids of tasks without an id of their own in a call with an idempotency key, 22 characters each. An id
 * derives from the queue, the key and the place in the batch. Ids rise with the place, so that tasks of a
 * batch that are due together keep their order.
 * @returns the id for a place, from 0 to 3,843
 */
export async function derivedTaskIds(queue: string, key: string): Promise<(place: number) => string> {
  const front = (await derivedName("id", queue, key)).slice(0, 20);
  return (place) => `${front}${DIGITS[Math.floor(place / 62)]}${DIGITS[place % 62]}`;
}
