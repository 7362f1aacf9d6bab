import type { Bytes } from "../bytes.ts";
import { ScanIndex } from "./scan-index.ts";

/** Up to here Redis scans a hash in one step. */
const COMPACT = { fields: 512, bytes: 64 };

/** A hash: fields with values, in the order in which the fields were added. */
export class Hash {
  readonly #fields = new Map<Bytes, Bytes>();
  #isCompact = true;
  #index: ScanIndex | undefined;

  get size(): number {
    return this.#fields.size;
  }

  /** Whether Redis would keep it as one small piece of memory. */
  get isCompact(): boolean {
    return this.#isCompact;
  }

  get(field: Bytes): Bytes | undefined {
    return this.#fields.get(field);
  }

  entries(): IterableIterator<[Bytes, Bytes]> {
    return this.#fields.entries();
  }

  /** @returns whether the field is new */
  set(field: Bytes, value: Bytes): boolean {
    const before = this.#fields.size;
    this.#fields.set(field, value);
    const isNew = this.#fields.size > before;
    if (isNew) this.#index?.add(field);
    if (
      this.#isCompact &&
      (this.size > COMPACT.fields || field.length > COMPACT.bytes || value.length > COMPACT.bytes)
    ) {
      this.#isCompact = false;
    }
    return isNew;
  }

  delete(field: Bytes): boolean {
    const existed = this.#fields.delete(field);
    if (existed) this.#index?.delete(field);
    return existed;
  }

  /** One step of a scan; see {@link ScanIndex.scan}. */
  scan(cursor: number, count: number): { cursor: number; found: readonly Bytes[] } {
    if (this.#isCompact) return { cursor: 0, found: [...this.#fields.keys()] };
    this.#index ??= new ScanIndex(this.#fields.keys());
    return this.#index.scan(cursor, count);
  }

  copy(): Hash {
    const copied = new Hash();
    for (const [field, value] of this.#fields) copied.#fields.set(field, value);
    copied.#isCompact = this.#isCompact;
    return copied;
  }
}
