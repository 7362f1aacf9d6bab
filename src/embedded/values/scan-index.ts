import type { Bytes } from "../bytes.ts";

/** A bucket is split when it has more names than this on average. */
const PER_BUCKET = 8;
const MOST_BITS = 24;

/**
 * The names of a collection in the order of their hash values, for scans. A cursor is a position in that order.
 * So a scan returns each name that is there from its first step to its last one, whatever else is added and
 * removed meanwhile, as Redis guarantees. It may return a name twice.
 */
export class ScanIndex {
  /** The names by the highest bits of their hash value. */
  #buckets: (Set<Bytes> | undefined)[] = [undefined];
  #bits = 0;
  #size = 0;

  constructor(names: Iterable<Bytes>) {
    for (const name of names) this.add(name);
  }

  /** Adds a name that is not there. */
  add(name: Bytes): void {
    this.#size += 1;
    this.#put(name);
    if (this.#size > PER_BUCKET * this.#buckets.length && this.#bits < MOST_BITS) this.#grow();
  }

  delete(name: Bytes): void {
    if (this.#buckets[this.#bucketOf(name)]?.delete(name)) this.#size -= 1;
  }

  /**
   * One step of a scan.
   * @param cursor 0 to begin, else the cursor of the last step
   * @param count at least this many names, if there are more
   * @returns the names, and the next cursor; 0 at the end
   */
  scan(cursor: number, count: number): { cursor: number; found: readonly Bytes[] } {
    const found: Bytes[] = [];
    // A cursor has 32 bits, so that it stays valid when the number of buckets changes.
    let bucket = cursor > 0xffff_ffff ? this.#buckets.length : this.#highest(cursor);
    while (bucket < this.#buckets.length && found.length < count) {
      for (const name of this.#buckets[bucket] ?? []) found.push(name);
      bucket += 1;
    }
    return { cursor: bucket >= this.#buckets.length ? 0 : bucket * 2 ** (32 - this.#bits), found };
  }

  #put(name: Bytes): void {
    (this.#buckets[this.#bucketOf(name)] ??= new Set()).add(name);
  }

  #bucketOf(name: Bytes): number {
    return this.#highest(hashOf(name));
  }

  /** The highest bits of 32. */
  #highest(value: number): number {
    return Math.floor(value / 2 ** (32 - this.#bits));
  }

  /** Splits each bucket in two. The order stays. */
  #grow(): void {
    const old = this.#buckets;
    this.#bits += 1;
    this.#buckets = Array.from({ length: 2 ** this.#bits });
    for (const names of old) for (const name of names ?? []) this.#put(name);
  }
}

/** FNV-1a, with a final mix so that the highest bits depend on all bytes. */
function hashOf(name: Bytes): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  hash = Math.imul(hash ^ (hash >>> 15), 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}
