import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";

/**
 * Signatures of the Standard Webhooks specification. With the endpoint's secret, a receiver can verify that a
 * request comes from this sender, is unchanged, and is recent.
 */

export const newSecret = () => `whsec_${randomBytes(24).toString("base64")}`;

export function signedHeaders(secret: string, id: string, body: string): Record<string, string> {
  const now = new Date();
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, now, body),
  };
}

/** @param headers with names in lower case */
export function verify(
  secret: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string,
): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
