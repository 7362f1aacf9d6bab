import type { ServeOptions } from "../../../src/deploy/process/types.ts";

/** A deployment for tests that end it in the middle of its work. Imports nothing of Node. */

interface Work {
  readonly ms: number;
  /** Whether it ends when its signal aborts. */
  readonly stops?: boolean;
}

type Env = { readonly LEDGER_URL: string };

/** The options of its process, from its environment. */
type Life = { readonly EVERY?: ServeOptions["every"]; readonly GRACE?: ServeOptions["grace"] };

export const slow = ({ EVERY: every = "1s", GRACE: grace }: Life): ServeOptions<Env> => ({
  every,
  grace,
  consumers: {
    work: {
      concurrency: 3,
      backoff: ["1h"],
      handler: async (
        { id, payload, signal }: { id: string; payload: Work; signal: AbortSignal },
        { LEDGER_URL }: Env,
      ) => {
        await fetch(`${LEDGER_URL}begun/${id}`, { method: "POST" });
        await new Promise((resolve, reject) => {
          setTimeout(resolve, payload.ms);
          if (payload.stops) signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
        await fetch(`${LEDGER_URL}ended/${id}`, { method: "POST" });
      },
    },
  },
  /** Answers late, or never. */
  async fetch({ url }) {
    if (url.endsWith("/never")) await new Promise(() => {});
    await new Promise((resolve) => setTimeout(resolve, 500));
    return new Response("late");
  },
});
