import { createClient } from "../../src/client/index.ts"; // elsewhere: "sluice-queue/client"
import type { WebhookTask } from "./events.ts";
import { required } from "./settings.ts";

/**
 * The queue over HTTP. These programs have tokens, but no access to the database.
 * @param token the name of the variable with the token
 */
export function webhooksOf(token: string) {
  return createClient({ url: required("SLUICE_URL"), token: required(token) }).queue<WebhookTask>("webhooks");
}

/**
 * Switches on the statistics of the queue, from which the dashboard draws its charts.
 * @throws if the deployment refuses
 */
export async function keepStatistics(): Promise<void> {
  const response = await fetch(new URL("/v1/queues/webhooks/settings", required("SLUICE_URL")), {
    method: "PATCH",
    headers: {
      authorization: `Bearer ${required("SLUICE_ADMIN_TOKEN")}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ statistics: true }),
  });
  if (!response.ok) throw new Error(`statistics: status ${response.status}: ${await response.text()}`);
  await response.body?.cancel();
}

export type Webhooks = ReturnType<typeof webhooksOf>;
