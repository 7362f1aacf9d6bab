import type { Bytes } from "./bytes.ts";
import { wrongType } from "./reply.ts";
import { Hash } from "./values/hash.ts";
import { List } from "./values/list.ts";
import { MemberSet } from "./values/member-set.ts";
import { ScanIndex } from "./values/scan-index.ts";
import { SortedSet } from "./values/sorted-set.ts";

/** What a key holds. A string is its bytes. */
export type Content = Bytes | Hash | List | MemberSet | SortedSet;
export type Kind = "string" | "hash" | "list" | "set" | "zset";

interface Entry {
  content: Content;
  /** Epoch ms; undefined if the key does not expire. */
  expiresAt: number | undefined;
}

/** How often expired keys are removed that no command names, ms, and how many keys it looks at. */
const EXPIRY_PASS = { every: 100, keys: 20 };

/** All keys. An expired key does not exist for any method. */
export class Store {
  #entries = new Map<Bytes, Entry>();
  /** The keys that expire. */
  #expiring = new Map<Bytes, number>();
  #index: ScanIndex | undefined;
  #time = 0;
  #now = 0;
  #nextPass = 0;

  /** The time of the current command, epoch ms, with fractions. Within a command, and so a script, it stays. */
  get time(): number {
    return this.#time;
  }

  /** {@link time} in whole ms, by which keys expire. */
  get now(): number {
    return this.#now;
  }

  /** Sets the time, and removes some of the expired keys. */
  begin(time: number): void {
    this.#time = time;
    const now = (this.#now = Math.floor(time));
    if (now < this.#nextPass && this.#nextPass <= now + EXPIRY_PASS.every) return;
    this.#nextPass = now + EXPIRY_PASS.every;
    let looked = 0;
    for (const [key, expiresAt] of this.#expiring) {
      if (++looked > EXPIRY_PASS.keys) break;
      // Looked at last next time.
      this.#expiring.delete(key);
      if (this.#isOver(expiresAt)) this.#remove(key);
      else this.#expiring.set(key, expiresAt);
    }
  }

  get size(): number {
    this.#removeExpired();
    return this.#entries.size;
  }

  /** All keys, in no order. */
  keys(): Bytes[] {
    this.#removeExpired();
    return [...this.#entries.keys()];
  }

  get(key: Bytes): Content | undefined {
    return this.#entryOf(key)?.content;
  }

  has(key: Bytes): boolean {
    return this.#entryOf(key) !== undefined;
  }

  /** @throws {ReplyError} WRONGTYPE; so do the other methods that return content of one kind */
  string(key: Bytes): Bytes | undefined {
    const content = this.get(key);
    if (content === undefined || typeof content === "string") return content;
    throw wrongType();
  }

  hash(key: Bytes): Hash | undefined {
    return instanceOf(Hash, this.get(key));
  }

  list(key: Bytes): List | undefined {
    return instanceOf(List, this.get(key));
  }

  memberSet(key: Bytes): MemberSet | undefined {
    return instanceOf(MemberSet, this.get(key));
  }

  sortedSet(key: Bytes): SortedSet | undefined {
    return instanceOf(SortedSet, this.get(key));
  }

  /** Sets what a key holds. It does not expire, or still expires if `keepExpiry` is true. */
  set(key: Bytes, content: Content, keepExpiry = false): void {
    const entry = this.#entryOf(key);
    if (entry === undefined) {
      this.#entries.set(key, { content, expiresAt: undefined });
      this.#index?.add(key);
      return;
    }
    entry.content = content;
    if (!keepExpiry) this.expire(key, undefined);
  }

  delete(key: Bytes): boolean {
    const existed = this.#entryOf(key) !== undefined;
    this.#remove(key);
    return existed;
  }

  /** Removes a key whose collection has become empty. */
  deleteIfEmpty(key: Bytes, { size }: { readonly size: number }): void {
    if (size === 0) this.delete(key);
  }

  /** When the key expires, epoch ms. */
  expiryOf(key: Bytes): number | undefined {
    return this.#entryOf(key)?.expiresAt;
  }

  /** Sets when an existing key expires, epoch ms; undefined for never. At once if that is not in the future. */
  expire(key: Bytes, expiresAt: number | undefined): void {
    const entry = this.#entryOf(key);
    if (entry === undefined) return;
    entry.expiresAt = expiresAt;
    if (expiresAt === undefined) this.#expiring.delete(key);
    else if (expiresAt <= this.#now) this.delete(key);
    else this.#expiring.set(key, expiresAt);
  }

  /** One step of a scan of the keys; see {@link ScanIndex.scan}. */
  scan(cursor: number, count: number): { cursor: number; found: readonly Bytes[] } {
    this.#index ??= new ScanIndex(this.#entries.keys());
    const step = this.#index.scan(cursor, count);
    return { cursor: step.cursor, found: step.found.filter((key) => this.has(key)) };
  }

  clear(): void {
    this.#entries = new Map();
    this.#expiring = new Map();
    this.#index = undefined;
  }

  #entryOf(key: Bytes): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry?.expiresAt === undefined || !this.#isOver(entry.expiresAt)) return entry;
    this.#remove(key);
    return undefined;
  }

  /** As in Redis, a key that expires in a millisecond exists until that millisecond is over. */
  #isOver(expiresAt: number): boolean {
    return expiresAt < this.#now;
  }

  #remove(key: Bytes): void {
    if (this.#entries.delete(key)) this.#index?.delete(key);
    this.#expiring.delete(key);
  }

  #removeExpired(): void {
    for (const [key, expiresAt] of this.#expiring) if (this.#isOver(expiresAt)) this.#remove(key);
  }
}

export function kindOf(content: Content): Kind {
  if (typeof content === "string") return "string";
  if (content instanceof Hash) return "hash";
  if (content instanceof List) return "list";
  return content instanceof MemberSet ? "set" : "zset";
}

/** A copy that later changes of the original do not reach. */
export function copyOf(content: Content): Content {
  if (typeof content === "string") return content;
  return content instanceof List ? List.of(content.slice(0, content.size)) : content.copy();
}

function instanceOf<Kept extends Content>(
  kind: new () => Kept,
  content: Content | undefined,
): Kept | undefined {
  if (content === undefined || content instanceof (kind as new () => object))
    return content as Kept | undefined;
  throw wrongType();
}
