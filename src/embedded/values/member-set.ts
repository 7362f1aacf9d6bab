import type { Bytes } from "../bytes.ts";
import { integerOf } from "../numbers.ts";
import { ScanIndex } from "./scan-index.ts";

/** Up to so many integers, Redis scans a set in one step. */
const COMPACT = 512;

/** A set, in the order in which the members were added. */
export class MemberSet {
  readonly #members = new Set<Bytes>();
  #isCompact = true;
  #index: ScanIndex | undefined;

  static of(members: Iterable<Bytes>): MemberSet {
    const set = new MemberSet();
    for (const member of members) set.add(member);
    return set;
  }

  get size(): number {
    return this.#members.size;
  }

  /** Whether Redis would keep it as one small piece of memory: few members, and all of them integers. */
  get isCompact(): boolean {
    return this.#isCompact;
  }

  has(member: Bytes): boolean {
    return this.#members.has(member);
  }

  members(): IterableIterator<Bytes> {
    return this.#members.values();
  }

  /** @returns whether the member is new */
  add(member: Bytes): boolean {
    if (this.#members.has(member)) return false;
    this.#members.add(member);
    this.#index?.add(member);
    this.#isCompact &&= this.size <= COMPACT && integerOf(member) !== undefined;
    return true;
  }

  delete(member: Bytes): boolean {
    const existed = this.#members.delete(member);
    if (existed) this.#index?.delete(member);
    return existed;
  }

  /** One step of a scan; see {@link ScanIndex.scan}. */
  scan(cursor: number, count: number): { cursor: number; found: readonly Bytes[] } {
    if (this.#isCompact) return { cursor: 0, found: [...this.#members] };
    this.#index ??= new ScanIndex(this.#members);
    return this.#index.scan(cursor, count);
  }

  copy(): MemberSet {
    const copied = MemberSet.of(this.#members);
    copied.#isCompact = this.#isCompact;
    return copied;
  }
}
