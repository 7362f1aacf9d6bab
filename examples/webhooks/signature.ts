import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/**
 * Signatures of the Standard Webhooks specification: who knows the endpoint's secret can tell that a
 * request comes from us, is unchanged, and is not an old one sent again.
 */

const tolerance = 5 * 60;

export const newSecret = () => `whsec_${randomBytes(24).toString("base64")}`;

export function signedHeaders(secret: string, id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${sign(secret, id, timestamp, body)}`,
  };
}

/** @param headers with names in lower case */
export function verify(
  secret: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string,
): boolean {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (typeof id !== "string" || typeof timestamp !== "string" || typeof signatures !== "string") return false;
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= tolerance)) return false;
  const expected = Buffer.from(`v1,${sign(secret, id, timestamp, body)}`);
  // There may be several, while a secret is being changed.
  return signatures.split(" ").some((signature) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function sign(secret: string, id: string, timestamp: string, body: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
}
