import { invalidArgument, type SluiceError } from "../../errors.ts";
import { fromBase64, toBase64 } from "../../base64.ts";
import { encodeValue } from "../../kernel/record/codec.ts";
import { MAX_PROGRESS_BYTES } from "../../kernel/options/limits.ts";
import {
  ENVELOPE,
  isEnvelope,
  isReference,
  isKnown,
  KEY_ID,
  KEY_ID_AT,
  keyIdOf,
  KIND_AT,
  ENVELOPE_BASE64,
  VERSION,
} from "../../kernel/record/envelope.ts";
import { fromBytes, toBytes } from "../../kernel/record/value-bytes.ts";
import { onlyOptions, trueOrFalse } from "../../kernel/options/validation.ts";
import { type Encryption, type ValueContext } from "./encryption.ts";
import { asUnreadable } from "../../kernel/record/unreadable.ts";
import { describeKey, undecryptable } from "../../kernel/values/refusal.ts";
import type { Values } from "../../kernel/values/values.ts";

export type { Encryption } from "./encryption.ts";

/** A key of AES-256-GCM: 32 bytes, the same in base64, or a `CryptoKey`. */
export type EncryptionKey = string | Uint8Array | CryptoKey;

export interface EncryptionOptions {
  /** All keys that stored values may be encrypted with, by id: 1 to 32 characters of `A-Z a-z 0-9 _ . -`. */
  readonly keys: Readonly<Record<string, EncryptionKey>>;
  /** The id of the key that encrypts. Null encrypts nothing yet, and needs `acceptPlain`. */
  readonly current: string | null;
  /** True accepts values that are not encrypted, such as those from before encryption. @default false */
  readonly acceptPlain?: boolean | undefined;
}

const IV_BYTES = 12;

/** The letter of each kind in an envelope. */
const KINDS = { payload: "p", schedule: "s", result: "r", error: "e", progress: "g" } as const;

/**
 * Makes the encryption of a queue's values by AES-256-GCM with WebCrypto: payloads, results, errors and
 * progress. Redis and the HTTP interface cannot read these. They can read ids, headers, groups and keys of
 * `dedup`. Each value is bound to its queue, its task and its kind, and cannot be decrypted as another. Give
 * the same encryption to everything that uses the queue: `Queue`, `Producer`, `Operator`, `Schedules`, and
 * `queue()` of a client.
 * @param options the keys, and the id of the key that encrypts
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
      return [id, keyImporter(key, `keys.${id}`, id === current)];
    }),
  );
  const key = ring.get(current ?? "");
  if (!key && !(current === null && acceptPlain)) {
    throw invalidArgument("current", "must be the id of one of the keys, or null with acceptPlain");
  }
  return new AesGcm(ring, key && { id: current ?? "", key }, acceptPlain);
}

/** Imports a key at its first use. */
type ImportKey = () => Promise<CryptoKey>;

interface CurrentKey {
  readonly id: string;
  readonly key: ImportKey;
}

class AesGcm implements Encryption {
  readonly #keys: ReadonlyMap<string, ImportKey>;
  readonly #current: CurrentKey | undefined;
  readonly #acceptPlain: boolean;

  constructor(keys: ReadonlyMap<string, ImportKey>, current: CurrentKey | undefined, acceptPlain: boolean) {
    this.#keys = keys;
    this.#current = current;
    this.#acceptPlain = acceptPlain;
  }

  values(next: Values, queue: string): Values {
    return {
      ...next,
      areSealed: true,
      seal: ({ kind, id }, encoded, path) => {
        const limit = kind === "payload" ? next.maxPayload : undefined;
        return this.encrypt(encoded, { kind, queue, id }, path, limit);
      },
      open: (of, stored) =>
        isReference(stored) ? next.open(of, stored) : this.#open({ ...of, queue }, stored),
    };
  }

  async #open(context: ValueContext, stored: unknown): Promise<unknown> {
    try {
      return await this.decrypt(stored, context);
    } catch (error) {
      throw (error as SluiceError).code === "undecryptable" ? asUnreadable(error as SluiceError) : error;
    }
  }

  async encrypt(encoded: string, context: ValueContext, path: string, limit?: number): Promise<string> {
    if (!this.#current) return encoded;
    const { id, key } = this.#current;
    const head = ascii(
      ENVELOPE + String.fromCharCode(VERSION) + KINDS[context.kind] + String.fromCharCode(id.length) + id,
    );
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const additionalData = joined(head, ascii(`${context.queue} ${context.id}`));
    const algorithm = { name: "AES-GCM", iv, additionalData };
    const text = await crypto.subtle.encrypt(algorithm, await key(), toBytes(encoded));
    const envelope = joined(head, iv, new Uint8Array(text));
    return context.kind === "progress"
      ? encodeValue(toBase64(envelope), path, MAX_PROGRESS_BYTES)
      : encodeValue(envelope, path, limit);
  }

  async decrypt(value: unknown, context: ValueContext): Promise<unknown> {
    const envelope = envelopeOf(value, context);
    if (!envelope) {
      // A consumer without the key stores a plain error if it cannot decrypt a payload.
      if (this.#acceptPlain || context.kind === "error") return value;
      throw undecryptable(context.kind, "it is not encrypted, and acceptPlain is not set");
    }
    if (!isKnown(envelope)) {
      throw undecryptable(
        context.kind,
        "a newer release of Sluice encrypted it; deploy that release here too",
      );
    }
    const id = keyIdOf(envelope) ?? "";
    const key = this.#keys.get(id);
    const how = `it is ${describeKey(envelope)}`;
    if (!key) throw undecryptable(context.kind, `${how}, which is not among the keys given`);
    const kind = String.fromCharCode(envelope[KIND_AT] ?? 0);
    const owner = ownerOf(context, kind);
    const ivAt = KEY_ID_AT + 1 + id.length;
    const textAt = ivAt + IV_BYTES;
    const plain =
      owner !== undefined &&
      (await decrypted(await key(), {
        iv: envelope.slice(ivAt, textAt),
        additionalData: joined(envelope.subarray(0, ivAt), ascii(owner)),
        text: envelope.slice(textAt),
      }));
    if (plain) return valueOf(plain, context);
    const why = "was altered, belongs to another task or queue, or that id has another key here";
    throw undecryptable(context.kind, `${how}, and ${why}`);
  }
}

function envelopeOf(value: unknown, { kind }: ValueContext): Uint8Array<ArrayBuffer> | undefined {
  if (kind !== "progress") return isEnvelope(value) ? (value as Uint8Array<ArrayBuffer>) : undefined;
  return typeof value === "string" && value.startsWith(ENVELOPE_BASE64) ? bytesIn(value) : undefined;
}

/** The owner to which a value of a kind is bound; undefined if the context does not allow that kind. */
function ownerOf({ kind, queue, id }: ValueContext, letter: string): string | undefined {
  if (letter === KINDS[kind]) return `${queue} ${id}`;
  // Tasks of a schedule have the schedule's payload. Their ids are its name, a dot and a time, with partitions
  // also a number in braces.
  const [, schedule] = /^(.+)\.\d+(?:\{\d+\})?$/.exec(id) ?? [];
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
    // WebCrypto does not say why.
    return undefined;
  }
}

function valueOf(plain: Uint8Array, context: ValueContext): unknown {
  try {
    return fromBytes(plain);
  } catch {
    // The message of the parser may quote the value.
    throw undecryptable(context.kind, "the decrypted value is neither JSON nor bytes");
  }
}

/** Checks a key. It is imported at its first use. */
function keyImporter(key: EncryptionKey, path: string, encrypts: boolean): ImportKey {
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
