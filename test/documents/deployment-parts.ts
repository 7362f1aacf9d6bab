// Further code of docs/deployments.md, so that it is type checked. configurations.test.ts compares it.

import { defineQueue } from "sluice-queue";
import type { DeploymentTools } from "sluice-queue/cloudflare";

interface Env {
  readonly MAIL_URL: string;
}
const emails = defineQueue<{ to: string }>("emails");
const orders = defineQueue<{ customer: string }>("orders");

export const confirm = orders.consumer(async ({ id, payload }, env, { queue }) => {
  await queue(emails).enqueue({ to: payload.customer }, { id: `order-${id}` });
});

import { SluiceError } from "sluice-queue";

export async function enqueueChecked(to: string, { queue }: DeploymentTools<Env>) {
  try {
    return Response.json(await queue(emails).enqueue({ to }));
  } catch (error) {
    if (!(error instanceof SluiceError && error.issues)) throw error;
    return Response.json({ issues: error.issues }, { status: 400 });
  }
}
