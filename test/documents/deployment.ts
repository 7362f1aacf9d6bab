// The code of docs/deployments.md, after the declarations that the page omits, so that it is type checked.

import type { Task } from "sluice-queue";

interface Env {
  readonly MAIL_URL: string;
}
declare function render(url: string): Promise<string>;
declare function send(to: string, url: string, signal: AbortSignal): Promise<void>;

import { consumer, sluice } from "sluice-queue/cloudflare";
import { z } from "zod";

export default sluice<Env>({
  consumers: {
    // A handler; or one with options, and a schema that gives it its type.
    thumbnails: ({ payload }: Task<{ url: string }>) => render(payload.url),
    emails: consumer({
      schema: z.object({ to: z.email() }),
      handler: ({ payload, signal }, env: Env) => send(payload.to, env.MAIL_URL, signal),
      concurrency: 10,
      timeout: "10s",
      backoff: ["10s", "1m", "10m"],
    }),
  },
  // What is not /v1/…, /wake, /health, /docs or /openapi.json; nothing returned is 404. Beside these: env, waitUntil.
  async fetch(_request, { queue, schedules }) {
    await schedules("emails").put("digest", { cron: "0 9 * * 1", payload: { to: "team@example.com" } });
    return Response.json(await queue("emails").enqueue({ to: "a@example.com" }));
  },
});
