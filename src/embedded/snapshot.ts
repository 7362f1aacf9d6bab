import { createHash } from "node:crypto";
import { toBuffer, type Bytes } from "./bytes.ts";
import { doubleOf, formatDouble } from "./numbers.ts";
import { kindOf, type Content, type Store } from "./store.ts";
import { Hash } from "./values/hash.ts";
import { List } from "./values/list.ts";
import { MemberSet } from "./values/member-set.ts";
import { SortedSet } from "./values/sorted-set.ts";

// A snapshot is a head, the keys, and a digest of both. Each text has its length and a colon in front of it:
// `3:abc`. A key has its name, its kind, when it expires (epoch ms; empty for never), and its content: a text, or
// the number of its texts and these.
const HEAD = "sluice embedded store 1\n";
const DIGEST = 20;

/** A snapshot that is damaged, or of another version. */
export class InvalidSnapshot extends Error {
  override readonly name = "InvalidSnapshot";
}

/** All keys that have not expired. */
export function takeSnapshot(store: Store): Uint8Array {
  const parts: Bytes[] = [HEAD];
  for (const key of store.keys()) {
    const content = store.get(key) as Content;
    const expiresAt = store.expiryOf(key);
    parts.push(text(key), text(expiresAt === undefined ? "" : String(expiresAt)), encodeContent(content));
  }
  const body = toBuffer(parts.join(""));
  return Buffer.concat([body, digestOf(body)]);
}

/**
 * Replaces all keys by those of a snapshot.
 * @throws {InvalidSnapshot} the store is then as it was
 */
export function restoreSnapshot(store: Store, snapshot: Uint8Array): void {
  const bytes = Buffer.from(snapshot.buffer, snapshot.byteOffset, snapshot.byteLength);
  const body = bytes.subarray(0, Math.max(bytes.length - DIGEST, 0));
  if (!body.subarray(0, HEAD.length).equals(toBuffer(HEAD))) {
    throw new InvalidSnapshot("this is not a snapshot of the embedded store, or one of another release");
  }
  if (!digestOf(body).equals(bytes.subarray(body.length)))
    throw new InvalidSnapshot("the snapshot is damaged");
  const reader = new Reader(body.toString("latin1"), HEAD.length);
  store.clear();
  while (!reader.atEnd) {
    const key = reader.text();
    const expiresAt = reader.text();
    store.set(key, reader.content());
    if (expiresAt !== "") store.expire(key, Number(expiresAt));
  }
}

const digestOf = (body: Uint8Array) => createHash("sha1").update(body).digest();

export function encodeContent(content: Content): Bytes {
  const kind = text(kindOf(content));
  if (typeof content === "string") return kind + text(content);
  const texts = textsOf(content);
  return kind + text(String(texts.length)) + texts.map(text).join("");
}

/** @throws {InvalidSnapshot} */
export function decodeContent(encoded: Bytes): Content {
  const reader = new Reader(encoded, 0);
  const content = reader.content();
  if (!reader.atEnd) throw new InvalidSnapshot("the content is damaged");
  return content;
}

function textsOf(content: Exclude<Content, Bytes>): readonly Bytes[] {
  if (content instanceof List) return content.slice(0, content.size);
  if (content instanceof Hash) return [...content.entries()].flat();
  if (content instanceof MemberSet) return [...content.members()];
  return content.slice(0, content.size).flatMap(({ member, score }) => [formatDouble(score), member]);
}

const text = (bytes: Bytes): Bytes => `${bytes.length}:${bytes}`;

class Reader {
  readonly #bytes: Bytes;
  #at: number;

  constructor(bytes: Bytes, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  text(): Bytes {
    const colon = this.#bytes.indexOf(":", this.#at);
    const length = Number(this.#bytes.slice(this.#at, colon));
    this.#at = colon + 1 + length;
    if (colon < 0 || !Number.isSafeInteger(length) || this.#at > this.#bytes.length) {
      throw new InvalidSnapshot("the content is damaged");
    }
    return this.#bytes.slice(colon + 1, this.#at);
  }

  content(): Content {
    const kind = this.text();
    if (kind === "string") return this.text();
    const texts = Array.from({ length: Number(this.text()) }, () => this.text());
    if (kind === "list") return List.of(texts);
    if (kind === "set") return MemberSet.of(texts);
    if (kind !== "hash" && kind !== "zset") throw new InvalidSnapshot(`a kind of another release: ${kind}`);
    const [hash, set] = [new Hash(), new SortedSet()];
    for (let at = 0; at < texts.length; at += 2) {
      const [first, second] = [texts[at] as Bytes, texts[at + 1] as Bytes];
      if (kind === "hash") hash.set(first, second);
      else set.set(second, doubleOf(first) ?? 0);
    }
    return kind === "hash" ? hash : set;
  }
}
