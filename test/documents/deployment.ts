// The code of docs/deployments.md, after the declarations that the page omits, so that it is type checked.

interface Env {
  readonly MAIL_URL: string;
}
declare function send(to: string, url: string, signal: AbortSignal): Promise<void>;

import { defineQueue } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";
import { z } from "zod";

export const emails = defineQueue("emails", {
  schema: z.object({ to: z.email() }),
  timeout: "10s",
  schedules: { digest: { cron: "0 9 * * 1", payload: { to: "team@example.com" } } },
});

export default sluice<Env>({
  consumers: [
    emails.consumer(({ payload, signal }, env) => send(payload.to, env.MAIL_URL, signal), {
      concurrency: 10,
    }),
  ],
  // Called for your own paths. The second argument also has schedules, env and waitUntil.
  async fetch(_request, { queue }) {
    return Response.json(await queue(emails).enqueue({ to: "a@example.com" }));
  },
});
