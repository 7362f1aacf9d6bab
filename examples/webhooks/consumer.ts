// A consumer as it would run in a short-lived function. For some seconds it pulls webhooks, delivers them,
// and settles them while it pulls the next ones. Then it ends, and the platform starts it again.
//
// It keeps no state. If it is killed, its leases expire, and another run gets the tasks. A webhook that was
// delivered but not settled is then delivered again: delivery is "at least once", which is why a webhook has
// an id.

import { drain, NonRetryableError } from "../../src/index.ts"; // elsewhere: "sluice-queue"
import { deliver, type Endpoint } from "./deliver.ts";
import { required } from "./settings.ts";
import { webhooksOf } from "./webhooks.ts";

const name = required("CONSUMER_NAME");
const endpoints = JSON.parse(required("ENDPOINTS")) as Record<string, Endpoint>;

await drain(
  webhooksOf("SLUICE_CONSUME_TOKEN"),
  async ({ id, attempt, payload }) => {
    const endpoint = endpoints[payload.tenant];
    if (!endpoint) throw new NonRetryableError(`${payload.tenant} has no endpoint`);
    const delivery = await deliver(endpoint, { id, attempt, body: payload.body, by: name });
    if (delivery.accepted) return;
    // A hopeless delivery becomes a dead letter at once, others after their last attempt.
    throw delivery.hopeless ? new NonRetryableError(delivery.why) : new Error(delivery.why);
  },
  {
    budget: `${Number(required("CONSUMER_SECONDS"))}s`,
    concurrency: 20,
    // The dashboard shows what the run holds under this name. The sweep after its end removes it from the list.
    worker: { name, silentAfter: "15s" },
    wait: "5s",
    backoff: { base: "1s", factor: 2, most: "8s" },
  },
);
