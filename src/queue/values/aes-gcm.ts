import { invalidArgument } from "../../errors.ts";
import { fromBase64, toBase64 } from "../core/base64.ts";
import { decodeValue, encodeValue, MAX_PROGRESS_BYTES } from "../core/codec.ts";
import {
  ENVELOPE,
  isEnvelope,
  isKnown,
  KEY_ID,
  KEY_ID_AT,
  keyIdOf,
  KIND_AT,
  ENVELOPE_BASE64,
  VERSION,
} from "../core/envelope.ts";
import { onlyOptions, trueOrFalse } from "../core/validation.ts";
import { type Encryption, keyOf, type Place, undecryptable } from "./encryption.ts";

export type { Encryption } from "./encryption.ts";

/** A key of AES-256-GCM: 32 bytes, the same in base64, or a `CryptoKey`. */
export type EncryptionKey = string | Uint8Array | CryptoKey;

export interface EncryptionOptions {
  /** Every key that something may still be encrypted with, by id: 1 to 32 characters of `A-Z a-z 0-9 _ . -`. */
  readonly keys: Readonly<Record<string, EncryptionKey>>;
  /** The id of the one that encrypts; null encrypts nothing, until all others can decrypt, and needs `acceptPlain`. */
  readonly current: string | null;
  /** True takes what is not encrypted as it is, while there may be such, from before. @default false */
  readonly acceptPlain?: boolean | undefined;
}

const IV_BYTES = 12;

/** What stands for each kind in an envelope. */
const KINDS = { payload: "p", schedule: "s", result: "r", error: "e", progress: "g" } as const;

/**
 * Encrypts what a queue's tasks carry, by AES-256-GCM with WebCrypto: payloads, results, errors and progress. Redis and
 * the HTTP interface see none of these; ids, headers, groups and keys of `dedup` they do. Each is bound to its queue,
 * its task and what it is, and opens nowhere else. Hand the same to everything that works with the queue:
 * `Queue`, `Producer`, `Operator`, `Schedules`, and `queue()` of a client.
 * @throws {SluiceError} `invalid_argument`; no message holds a key
 * @example encryption({ keys: { "2026-11": env.EMAILS_KEY }, current: "2026-11" })
 */
export function encryption(options: EncryptionOptions): Encryption {
  onlyOptions(options, ["keys", "current", "acceptPlain"]);
  const { keys, current, acceptPlain = false } = options;
  trueOrFalse(acceptPlain, "acceptPlain");
  if (typeof keys !== "object" || keys === null) {
    throw invalidArgument("keys", "must be an object of keys by their ids");
  }
  const ring = new Map(
    Object.entries(keys).map(([id, key], i) => {
      if (!KEY_ID.test(id)) {
        throw invalidArgument(`keys[${i}]`, "must have an id of 1 to 32 of A-Z a-z 0-9 _ . -");
      }
      return [id, imported(key, `keys.${id}`, id === current)];
    }),
  );
  const key = ring.get(current ?? "");
  if (!key && !(current === null && acceptPlain)) {
    throw invalidArgument("current", "must be the id of one of the keys, or null with acceptPlain");
  }
  return new AesGcm(ring, key && { id: current ?? "", key }, acceptPlain);
}

/** Imports a key at its first use. */
type Imported = () => Promise<CryptoKey>;

interface CurrentKey {
  readonly id: string;
  readonly key: Imported;
}

class AesGcm implements Encryption {
  readonly #keys: ReadonlyMap<string, Imported>;
  readonly #current: CurrentKey | undefined;
  readonly #acceptPlain: boolean;

  constructor(keys: ReadonlyMap<string, Imported>, current: CurrentKey | undefined, acceptPlain: boolean) {
    this.#keys = keys;
    this.#current = current;
    this.#acceptPlain = acceptPlain;
  }

  async seal(encoded: string, place: Place, path: string): Promise<string> {
    if (!this.#current) return encoded;
    const { id, key } = this.#current;
    const head = ascii(
      ENVELOPE + String.fromCharCode(VERSION) + KINDS[place.kind] + String.fromCharCode(id.length) + id,
    );
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const additionalData = joined(head, ascii(`${place.queue} ${place.id}`));
    const algorithm = { name: "AES-GCM", iv, additionalData };
    const text = await crypto.subtle.encrypt(algorithm, await key(), plainOf(encoded));
    const envelope = joined(head, iv, new Uint8Array(text));
    return place.kind === "progress"
      ? encodeValue(toBase64(envelope), path, MAX_PROGRESS_BYTES)
      : encodeValue(envelope, path);
  }

  async open(value: unknown, place: Place): Promise<unknown> {
    const envelope = envelopeOf(value, place);
    if (!envelope) {
      // Why a consumer without the key could not decrypt a payload, it could not encrypt either.
      if (this.#acceptPlain || place.kind === "error") return value;
      throw undecryptable(place, "it is not encrypted, and acceptPlain is not set");
    }
    if (!isKnown(envelope)) {
      throw undecryptable(place, "a newer release of Sluice has encrypted it; deploy that release here too");
    }
    const id = keyIdOf(envelope) ?? "";
    const key = this.#keys.get(id);
    const how = `it is ${keyOf(envelope)}`;
    if (!key) throw undecryptable(place, `${how}, which is not among the keys given`);
    const kind = String.fromCharCode(envelope[KIND_AT] ?? 0);
    const owner = ownerOf(place, kind);
    const ivAt = KEY_ID_AT + 1 + id.length;
    const textAt = ivAt + IV_BYTES;
    const plain =
      owner !== undefined &&
      (await decrypted(await key(), {
        iv: envelope.slice(ivAt, textAt),
        additionalData: joined(envelope.subarray(0, ivAt), ascii(owner)),
        text: envelope.slice(textAt),
      }));
    if (plain) return valueOf(plain, place);
    const why = "was altered, belongs to another task or queue, or that id stands for another key here";
    throw undecryptable(place, `${how}, and ${why}`);
  }
}

function envelopeOf(value: unknown, { kind }: Place): Uint8Array<ArrayBuffer> | undefined {
  if (kind !== "progress") return isEnvelope(value) ? (value as Uint8Array<ArrayBuffer>) : undefined;
  return typeof value === "string" && value.startsWith(ENVELOPE_BASE64) ? bytesIn(value) : undefined;
}

/** Whose a value of that kind is; undefined where none of that kind can stand there. */
function ownerOf({ kind, queue, id }: Place, letter: string): string | undefined {
  if (letter === KINDS[kind]) return `${queue} ${id}`;
  // A schedule's payload is that of its occurrences, whose ids are its name, a dot and a time.
  const [, schedule] = /^(.+)\.\d+$/.exec(id) ?? [];
  return kind === "payload" && letter === KINDS.schedule && schedule !== undefined
    ? `${queue} ${schedule}`
    : undefined;
}

async function decrypted(
  key: CryptoKey,
  { iv, additionalData, text }: Record<"iv" | "additionalData" | "text", Uint8Array<ArrayBuffer>>,
): Promise<Uint8Array | undefined> {
  try {
    return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData }, key, text));
  } catch {
    // The platform does not tell why.
    return undefined;
  }
}

/** A value as the codec wrote it, in bytes: those of a `Uint8Array` as they are, without base64. */
function plainOf(encoded: string): Uint8Array<ArrayBuffer> {
  return encoded[0] === "b"
    ? joined(ascii("b"), fromBase64(encoded.slice(1))!)
    : new TextEncoder().encode(encoded);
}

function valueOf(plain: Uint8Array, place: Place): unknown {
  if (plain[0] === 0x62) return plain.slice(1);
  try {
    return decodeValue(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(plain));
  } catch {
    // What the parser says quotes it.
    throw undecryptable(place, "what is encrypted is neither JSON nor bytes");
  }
}

function imported(key: EncryptionKey, path: string, encrypts: boolean): Imported {
  const bytes = typeof key === "string" ? bytesIn(key) : key;
  if (bytes instanceof Uint8Array && bytes.length === 32) {
    const raw = joined(bytes);
    let promise: Promise<CryptoKey> | undefined;
    return () => (promise ??= crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt", "decrypt"]));
  }
  if (isCryptoKey(bytes, encrypts ? ["encrypt", "decrypt"] : ["decrypt"])) return async () => bytes;
  throw invalidArgument(
    path,
    `must be 32 bytes, the same in base64, or a CryptoKey of AES-GCM with 256 bits that ${encrypts ? "encrypts and " : ""}decrypts`,
  );
}

function bytesIn(base64: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = fromBase64(base64);
  return bytes && toBase64(bytes) === base64 ? bytes : undefined;
}

function isCryptoKey(key: unknown, uses: readonly KeyUsage[]): key is CryptoKey {
  if (typeof key !== "object" || key === null) return false;
  const { algorithm, usages } = key as Partial<CryptoKey>;
  const { name, length } = (algorithm ?? {}) as { name?: unknown; length?: unknown };
  return name === "AES-GCM" && length === 256 && uses.every((use) => usages?.includes(use));
}

function ascii(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
