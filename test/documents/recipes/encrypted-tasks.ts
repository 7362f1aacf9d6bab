import { defineQueue } from "sluice-queue";
import { sluice } from "sluice-queue/vercel";
import { encryption } from "sluice-queue/encryption";

type Env = { RESULTS_URL: string };

// The key is 32 bytes in base64: openssl rand -base64 32
export const results = defineQueue<{ patient: string; result: string }>("results", {
  timeout: "10s",
  encryption: () => encryption({ keys: { "2026-11": process.env["RESULTS_KEY"] ?? "" }, current: "2026-11" }),
});

const store = results.consumer(async ({ payload, signal }, env: Env) => {
  const body = JSON.stringify(payload);
  const stored = await fetch(env.RESULTS_URL, { method: "POST", body, signal });
  if (!stored.ok) throw new Error(`HTTP ${stored.status}`);
});

export const { GET, POST } = sluice<Env>({
  consumers: [store],
  async fetch(request, { queue }) {
    const { sample, ...result } = (await request.json()) as {
      sample: string;
      patient: string;
      result: string;
    };
    return Response.json(await queue(results).enqueue(result, { id: sample }));
  },
});
