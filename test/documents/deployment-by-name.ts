// The code of docs/deployments.md on consumers by name, so that it is type checked. configurations.test.ts compares it.

interface Env {
  readonly MAIL_URL: string;
}
declare function render(url: string): Promise<void>;
declare function send(to: string): Promise<void>;

import type { Task } from "sluice-queue";
import { consumer, sluice } from "sluice-queue/cloudflare";
import { z } from "zod";

export default sluice<Env>({
  consumers: {
    thumbnails: ({ payload }: Task<{ url: string }>) => render(payload.url),
    emails: consumer({
      schema: z.object({ to: z.email() }),
      handler: ({ payload }) => send(payload.to),
      concurrency: 10,
    }),
  },
  fetch: async (_request, { queue }) => Response.json(await queue("emails").enqueue({ to: "a@example.com" })),
});
