import type { ServiceOptions } from "../../serverless/deployment/service.ts";

/**
 * What the acceptance tests deploy on every platform: `sluice(deployment)` of its entry. Imports nothing of
 * Node.
 */

interface Work {
  readonly say: string;
  /** How many attempts fail before one succeeds. */
  readonly failures?: number;
  /** True if no attempt can succeed. */
  readonly hopeless?: boolean;
}

/** Recognised by its name, like an error from another bundle. */
class NonRetryableError extends Error {
  override readonly name = "NonRetryableError";
}

export const deployment: ServiceOptions = {
  dashboard: true,
  consumers: {
    work: {
      backoff: [10],
      concurrency: 3,
      handler: ({ payload, attempt }: { payload: Work; attempt: number }) => {
        if (payload.hopeless) throw new NonRetryableError("nothing can be done");
        if (attempt <= (payload.failures ?? 0)) throw new Error(`attempt ${attempt} failed`);
        return { said: payload.say, attempt };
      },
    },
  },
  /** The producer: `POST /say?text=…`. */
  async fetch(request, { queue }) {
    const url = new URL(request.url);
    const text = url.searchParams.get("text");
    if (url.pathname !== "/say" || text === null) return new Response("no such page", { status: 404 });
    const enqueued = await queue<Work>("work").enqueue({ say: text }, { maxAttempts: 3 });
    return Response.json(enqueued, { status: 201 });
  },
};
