import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";

/**
 * Signatures of the Standard Webhooks specification: who knows the endpoint's secret can tell that a
 * request comes from us, is unchanged, and is not an old one sent again.
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
