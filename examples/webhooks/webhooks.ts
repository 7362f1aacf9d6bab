import { createClient } from "../../src/client/index.ts"; // elsewhere: "sluice-queue/client"
import type { WebhookTask } from "./events.ts";
import { required } from "./settings.ts";

/**
 * The queue, over HTTP: these programs hold tokens, and not the database.
 * @param token the variable that holds it
 */
export function webhooksOf(token: string) {
  return createClient({ url: required("SLUICE_URL"), token: required(token) }).queue<WebhookTask>("webhooks");
}

export type Webhooks = ReturnType<typeof webhooksOf>;
