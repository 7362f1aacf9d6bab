/**
 * Signatures of the Standard Webhooks specification (standardwebhooks.com). They prove that the sender of a
 * request knows the secret, and that the request is unchanged and at most five minutes old.
 */
import { invalidArgument } from "./errors.ts";
import { fromBase64, toBase64 } from "./base64.ts";

/**
 * How old a signature may be, or how far ahead, in seconds; the same as in the specification's own libraries.
 */
export const TOLERANCE = 5 * 60;

const PREFIX = "whsec_";

/** What a secret must be. */
export const SECRET_FORM = `must be ${PREFIX} followed by 24 to 64 bytes in base64`;

/** The longest id, in characters: ids are kept in memory, and no library makes longer ones. */
const LONGEST_ID = 256;

/** Whether a secret is `whsec_` followed by 24 to 64 bytes in base64. */
export function isSigningSecret(secret: string): boolean {
  return secretBytes(secret) !== undefined;
}

function secretBytes(secret: unknown): Uint8Array<ArrayBuffer> | undefined {
  const bytes =
    typeof secret === "string" && secret.startsWith(PREFIX) ? fromBase64(secret.slice(6)) : undefined;
  return bytes && bytes.length >= 24 && bytes.length <= 64 ? bytes : undefined;
}

/**
 * The key that signs and verifies with a secret.
 * @param path the option that holds the secret
 * @throws {SluiceError} `invalid_argument` if the secret is not `whsec_` followed by 24 to 64 bytes in base64
 */
export async function signingKey(secret: string, path = "secret"): Promise<CryptoKey> {
  const bytes = secretBytes(secret);
  if (bytes === undefined) {
    throw invalidArgument(path, SECRET_FORM);
  }
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
}

/** The three headers that sign a body under an id, with each of the keys. */
export async function signedHeaders(
  keys: CryptoKey | readonly CryptoKey[],
  id: string,
  body: string,
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const content = signedContent(id, timestamp, body);
  const signatures = [keys].flat().map(async (key) => {
    const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, content));
    return `v1,${toBase64(signature)}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": (await Promise.all(signatures)).join(" "),
  };
}

/**
 * Whether one of the keys signed the body within the last five minutes. While a secret is being changed,
 * there are several keys, and several signatures.
 */
export async function isSigned(keys: readonly CryptoKey[], headers: Headers, body: string): Promise<boolean> {
  const id = headers.get("webhook-id");
  const timestamp = headers.get("webhook-timestamp");
  const signatures = headers.get("webhook-signature");
  if (id === null || id.length > LONGEST_ID || signatures === null) return false;
  if (timestamp === null || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > TOLERANCE) return false;
  const content = signedContent(id, timestamp, body);
  for (const text of signatures.split(" ").slice(0, 8)) {
    const bytes = text.startsWith("v1,") ? fromBase64(text.slice(3)) : undefined;
    for (const key of bytes ? keys : []) {
      // `verify` compares in constant time.
      if (await crypto.subtle.verify("HMAC", key, bytes as Uint8Array<ArrayBuffer>, content)) return true;
    }
  }
  return false;
}

const signedContent = (id: string, timestamp: string, body: string) =>
  new TextEncoder().encode(`${id}.${timestamp}.${body}`);
