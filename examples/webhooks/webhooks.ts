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

export type Webhooks = ReturnType<typeof webhooksOf>;
