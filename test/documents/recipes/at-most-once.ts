import { defineQueue } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";

type Env = { BANK_URL: string };

// One attempt: if it fails, or if its worker dies, no second one follows.
export const transfers = defineQueue<{ to: string; cents: number }>("transfers", {
  maxAttempts: 1,
  unique: "30d",
  deadTtl: "30d",
  timeout: "20s",
});

const transfer = transfers.consumer(async ({ payload, signal }, env: Env) => {
  const body = JSON.stringify(payload);
  const response = await fetch(env.BANK_URL, { method: "POST", body, signal });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
});

export default sluice<Env>({
  consumers: [transfer],
  // A person looks whether the transfer was made.
  onDeadLetter: ({ id, reason, error }) => console.error(`check transfer ${id}: ${reason}`, error?.message),
});
