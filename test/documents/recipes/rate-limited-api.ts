import { defineQueue, RetryAfter } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";

type Env = { GEOCODER_URL: string };

// The service allows ten requests a second, and five at once.
export const addresses = defineQueue<{ address: string }>("addresses", {
  rate: { most: 10, per: "1s" },
  maxWorking: 5,
  timeout: "10s",
});

const geocode = addresses.consumer(async ({ payload, signal }, env: Env) => {
  const url = `${env.GEOCODER_URL}?address=${encodeURIComponent(payload.address)}`;
  const found = await fetch(url, { signal });
  // The service is busy all the same, such as with requests of others. This attempt does not count.
  if (found.status === 429) throw new RetryAfter("30s", { count: false });
  if (!found.ok) throw new Error(`HTTP ${found.status}`);
  return found.json();
});

export default sluice<Env>({ consumers: [geocode] });
