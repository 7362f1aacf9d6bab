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
      /** True if another attempt would fail too. */
      readonly hopeless: boolean;
    };

export interface Webhook {
  readonly id: string;
  readonly attempt: number;
  readonly body: unknown;
  /** The name of the run that delivers. */
  readonly by: string;
}

/** An endpoint that takes longer counts as failed, although it may have accepted, ms. */
const timeout = 2_000;

/** Delivers one webhook. Never throws: failures are returned. */
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
    // The cause of fetch's error has the reason.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { accepted: false, why: cause instanceof Error ? cause.message : String(cause), hopeless: false };
  }
}
