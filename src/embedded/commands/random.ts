import { readIndex } from "../numbers.ts";
import { ReplyError } from "../reply.ts";
import type { Bytes } from "../bytes.ts";

/** Most items that a negative count may ask for, since there is one item for each. */
const MOST = 10_000_000;

/** @throws {ReplyError} if it is not a count of random items */
export function readRandomCount(text: Bytes): number {
  const count = readIndex(text);
  if (count < -MOST) throw new ReplyError("ERR value is out of range");
  return count;
}

/** As many different items as asked for, at random; with a negative count any, also twice. */
export function randomItems<Item>(items: readonly Item[], count: number): Item[] {
  const place = (length: number) => Math.floor(Math.random() * length);
  if (count < 0) return Array.from({ length: -count }, () => items[place(items.length)] as Item);
  const left = [...items];
  const chosen: Item[] = [];
  while (chosen.length < count && left.length > 0) {
    const at = place(left.length);
    chosen.push(left[at] as Item);
    left[at] = left.at(-1) as Item;
    left.pop();
  }
  return chosen;
}
