import type { Bytes } from "../bytes.ts";
import { ScanIndex } from "./scan-index.ts";

/** A member with its score. */
export interface Scored {
  readonly member: Bytes;
  readonly score: number;
}

/** Most entries of a chunk. A full one is split in two. */
const LARGEST_CHUNK = 512;

/** Up to here Redis scans a sorted set in one step. */
const COMPACT = { members: 128, bytes: 64 };

/**
 * A sorted set: members in the order of their scores, and of their bytes within a score.
 *
 * The entries are in sorted chunks of bounded length. A search is two binary searches; an insertion or a removal
 * moves at most one chunk; a rank adds up the lengths of chunks.
 */
export class SortedSet {
  readonly #scores = new Map<Bytes, number>();
  #chunks: Scored[][] = [];
  #isCompact = true;
  #index: ScanIndex | undefined;

  get size(): number {
    return this.#scores.size;
  }

  /** Whether Redis would keep it as one small piece of memory. */
  get isCompact(): boolean {
    return this.#isCompact;
  }

  scoreOf(member: Bytes): number | undefined {
    return this.#scores.get(member);
  }

  members(): IterableIterator<Bytes> {
    return this.#scores.keys();
  }

  set(member: Bytes, score: number): void {
    const old = this.#scores.get(member);
    if (old === undefined) this.#index?.add(member);
    else this.#take(member, old);
    this.#scores.set(member, score);
    this.#put({ member, score });
    if (this.#isCompact && (this.size > COMPACT.members || member.length > COMPACT.bytes)) {
      this.#isCompact = false;
    }
  }

  delete(member: Bytes): boolean {
    const score = this.#scores.get(member);
    if (score === undefined) return false;
    this.#take(member, score);
    this.#scores.delete(member);
    this.#index?.delete(member);
    return true;
  }

  /** The number of entries before the first one for which `isAfter` is true. It must be monotonic. */
  countBefore(isAfter: (entry: Scored) => boolean): number {
    const chunk = firstWhere(this.#chunks, (entries) => isAfter(entries[entries.length - 1] as Scored));
    let count = 0;
    for (let index = 0; index < chunk; index++) count += (this.#chunks[index] as Scored[]).length;
    return count + firstWhere(this.#chunks[chunk] ?? [], isAfter);
  }

  /** The place of a member, from 0; undefined if it is none. */
  rankOf(member: Bytes): number | undefined {
    const score = this.#scores.get(member);
    return score === undefined ? undefined : this.countBefore((entry) => !isBefore(entry, score, member));
  }

  /** The entries from one place up to another, without the last. */
  slice(from: number, to: number): Scored[] {
    const found: Scored[] = [];
    let begin = 0;
    for (const chunk of this.#chunks) {
      if (begin >= to) break;
      const end = begin + chunk.length;
      if (end > from) {
        for (let at = Math.max(from, begin); at < Math.min(to, end); at++)
          found.push(chunk[at - begin] as Scored);
      }
      begin = end;
    }
    return found;
  }

  /** One step of a scan; see {@link ScanIndex.scan}. */
  scan(cursor: number, count: number): { cursor: number; found: readonly Bytes[] } {
    if (this.#isCompact) return { cursor: 0, found: this.slice(0, this.size).map(({ member }) => member) };
    this.#index ??= new ScanIndex(this.#scores.keys());
    return this.#index.scan(cursor, count);
  }

  copy(): SortedSet {
    const copied = new SortedSet();
    for (const [member, score] of this.#scores) copied.#scores.set(member, score);
    copied.#chunks = this.#chunks.map((chunk) => [...chunk]);
    copied.#isCompact = this.#isCompact;
    return copied;
  }

  #put(entry: Scored): void {
    const { member, score } = entry;
    const isAfter = (other: Scored) => !isBefore(other, score, member);
    const last = this.#chunks.length - 1;
    const found = firstWhere(this.#chunks, (chunk) => isAfter(chunk[chunk.length - 1] as Scored));
    const place = Math.min(found, Math.max(last, 0));
    const chunk = (this.#chunks[place] ??= []);
    if (found > last) chunk.push(entry);
    else chunk.splice(firstWhere(chunk, isAfter), 0, entry);
    if (chunk.length > LARGEST_CHUNK) this.#chunks.splice(place + 1, 0, chunk.splice(LARGEST_CHUNK / 2));
  }

  #take(member: Bytes, score: number): void {
    const isAfter = (other: Scored) => !isBefore(other, score, member);
    const place = firstWhere(this.#chunks, (chunk) => isAfter(chunk[chunk.length - 1] as Scored));
    const chunk = this.#chunks[place] as Scored[];
    if (chunk.length === 1) this.#chunks.splice(place, 1);
    else chunk.splice(firstWhere(chunk, isAfter), 1);
  }
}

const isBefore = (entry: Scored, score: number, member: Bytes): boolean =>
  entry.score < score || (entry.score === score && entry.member < member);

/** The index of the first item for which the test is true; the length if there is none. */
function firstWhere<Item>(items: readonly Item[], test: (item: Item) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(items[middle] as Item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
