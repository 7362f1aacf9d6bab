// Further code of docs/deployments.md, so that it is type checked. configurations.test.ts compares it.

import { defineQueue, SluiceError, type Task } from "sluice-queue";
import { consumer, type DeploymentTools, sluice } from "sluice-queue/cloudflare";
import { z } from "zod";

interface Env {
  readonly MAIL_URL: string;
}
declare function render(url: string): Promise<void>;
declare function send(to: string): Promise<void>;
const emails = defineQueue<{ to: string }>("emails");
const orders = defineQueue<{ customer: string }>("orders");

export const byName = sluice<Env>({
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

export const confirm = orders.consumer(async ({ id, payload }, env, { queue }) => {
  await queue(emails).enqueue({ to: payload.customer }, { id: `order-${id}` });
});

export async function enqueueChecked(to: string, { queue }: DeploymentTools<Env>) {
  try {
    return Response.json(await queue(emails).enqueue({ to }));
  } catch (error) {
    if (!(error instanceof SluiceError && error.issues)) throw error;
    return Response.json({ issues: error.issues }, { status: 400 });
  }
}
