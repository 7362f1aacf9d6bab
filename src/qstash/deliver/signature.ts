/** The header `Upstash-Signature`: a JWT (HS256) that proves who sends a request, to which URL, with which body. */
import { toBase64 } from "../../base64.ts";
import { newToken } from "../../kernel/names/ids.ts";

/** How long a signature is valid, seconds. */
const VALID_FOR = 300;

const encode = (text: string) => new TextEncoder().encode(text);

const base64url = (bytes: Uint8Array) => toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_");

const withoutPadding = (text: string) => text.replace(/=+$/, "");

const part = (value: object) => withoutPadding(base64url(encode(JSON.stringify(value))));

/**
 * Signs a request.
 * @param key the current signing key
 * @param url the receiver's
 */
export async function signatureOf(key: string, url: string, body: Uint8Array<ArrayBuffer>): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const digest = await crypto.subtle.digest("SHA-256", body);
  const claims = {
    iss: "Upstash",
    sub: url,
    exp: now + VALID_FOR,
    // The clock of the receiver may be behind.
    nbf: now - VALID_FOR,
    iat: now,
    jti: `jwt_${newToken()}`,
    body: base64url(new Uint8Array(digest)),
  };
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  const secret = await crypto.subtle.importKey("raw", encode(key), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", secret, encode(signed)));
  return `${signed}.${withoutPadding(base64url(signature))}`;
}
