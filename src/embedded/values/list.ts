import type { Bytes } from "../bytes.ts";

/** A list in a ring of places: both ends and each index take constant time. */
export class List {
  /** Its length is a power of two. */
  #ring: (Bytes | undefined)[] = Array.from({ length: 8 });
  #first = 0;
  #size = 0;

  static of(values: readonly Bytes[]): List {
    const list = new List();
    for (const value of values) list.pushRight(value);
    return list;
  }

  get size(): number {
    return this.#size;
  }

  /** @param index from 0 to `size - 1` */
  at(index: number): Bytes {
    return this.#ring[this.#place(index)] as Bytes;
  }

  set(index: number, value: Bytes): void {
    this.#ring[this.#place(index)] = value;
  }

  pushLeft(value: Bytes): void {
    this.#makeRoom();
    this.#first = (this.#first - 1) & (this.#ring.length - 1);
    this.#size += 1;
    this.set(0, value);
  }

  pushRight(value: Bytes): void {
    this.#makeRoom();
    this.#size += 1;
    this.set(this.#size - 1, value);
  }

  popLeft(): Bytes | undefined {
    if (this.#size === 0) return undefined;
    const value = this.at(0);
    this.#ring[this.#first] = undefined;
    this.#first = this.#place(1);
    this.#size -= 1;
    return value;
  }

  popRight(): Bytes | undefined {
    if (this.#size === 0) return undefined;
    const place = this.#place(this.#size - 1);
    const value = this.#ring[place];
    this.#ring[place] = undefined;
    this.#size -= 1;
    return value;
  }

  /** The values from one index up to another, without the last. */
  slice(from: number, to: number): Bytes[] {
    const values: Bytes[] = [];
    for (let index = from; index < to; index++) values.push(this.at(index));
    return values;
  }

  #place(index: number): number {
    return (this.#first + index) & (this.#ring.length - 1);
  }

  #makeRoom(): void {
    if (this.#size < this.#ring.length) return;
    const values: (Bytes | undefined)[] = this.slice(0, this.#size);
    values.length = 2 * this.#ring.length;
    this.#ring = values.fill(undefined, this.#size);
    this.#first = 0;
  }
}
