import { signedHeaders } from "./signature.ts";

/** Where the webhooks of a tenant go. */
export interface Endpoint {
  readonly url: string;
  readonly secret: string;
}

export type Delivery =
  | { readonly accepted: true }
  | {
      readonly accepted: false;
      readonly why: string;
      /** Another try would end the same. */
      readonly hopeless: boolean;
    };

export interface Webhook {
  readonly id: string;
  readonly attempt: number;
  readonly body: unknown;
  /** Who delivers. */
  readonly by: string;
}

/** An endpoint that needs longer is taken to have failed; it may have accepted all the same. */
const timeout = 2_000;

/** Delivers one webhook. It never throws: what can go wrong is an answer. */
export async function deliver(
  { url, secret }: Endpoint,
  { id, attempt, body, by }: Webhook,
): Promise<Delivery> {
  const text = JSON.stringify(body);
  try {
    const response = await fetch(url, {
      method: "POST",
      body: text,
      headers: {
        ...signedHeaders(secret, id, text),
        "content-type": "application/json",
        "user-agent": by,
        "webhook-attempt": String(attempt),
      },
      redirect: "manual",
      signal: AbortSignal.timeout(timeout),
    });
    await response.body?.cancel();
    if (response.ok) return { accepted: true };
    const { status } = response;
    const hopeless = status >= 400 && status < 500 && status !== 408 && status !== 429;
    return { accepted: false, why: `status ${status}`, hopeless };
  } catch (error) {
    // fetch tells the reason as the cause of its error.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { accepted: false, why: String(cause), hopeless: false };
  }
}
