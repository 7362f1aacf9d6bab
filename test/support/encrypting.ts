import { createDecipheriv } from "node:crypto";
import { encryption, type EncryptionOptions } from "../../src/features/encryption/aes-gcm.ts";

/** Keys of tests: 32 bytes in base64. */
export const KEYS = {
  old: Buffer.alloc(32, 1).toString("base64"),
  new: Buffer.alloc(32, 2).toString("base64"),
  other: Buffer.alloc(32, 3).toString("base64"),
} as const;

/** An encryption with the old key, unless the options say otherwise. */
export const encrypting = (options: Partial<EncryptionOptions> = {}) =>
  encryption({ keys: { old: KEYS.old }, current: "old", ...options });

/** A text that is in no cipher text by chance, and in no name or limit. */
export const MARKER = "Wiedererkennbar-7f3a";

/** True if a value contains the {@link MARKER}, in plain text or in base64 of any alignment. */
export function shows(raw: unknown): boolean {
  const text = typeof raw === "string" ? raw : JSON.stringify(raw);
  const decoded = Array.from(text.matchAll(/[A-Za-z0-9+/]{16,}/g)).flatMap(([found]) =>
    [0, 1, 2, 3].map((from) => Buffer.from(found.slice(from), "base64").toString("latin1")),
  );
  return [text, ...decoded].some((form) => form.includes(MARKER));
}

/** Opens an envelope by the format in lua/README.md, with Node's own cryptography. */
export function openByHand(envelope: Uint8Array, key: string, owner: string) {
  const bytes = Buffer.from(envelope);
  const begins = bytes.subarray(0, 8).toString("latin1");
  const kind = bytes.subarray(8, 9).toString("latin1");
  const ivAt = 10 + (bytes[9] ?? 0);
  const keyId = bytes.subarray(10, ivAt).toString("latin1");
  const decipher = createDecipheriv(
    "aes-256-gcm",
    Buffer.from(key, "base64"),
    bytes.subarray(ivAt, ivAt + 12),
  );
  decipher.setAAD(Buffer.concat([bytes.subarray(0, ivAt), Buffer.from(owner, "latin1")]));
  decipher.setAuthTag(bytes.subarray(-16));
  const plain = Buffer.concat([decipher.update(bytes.subarray(ivAt + 12, -16)), decipher.final()]);
  return { begins, kind, keyId, plain: plain.toString("utf8") };
}
