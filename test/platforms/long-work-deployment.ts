import type { ServiceOptions } from "../../serverless/cloudflare.ts";

export const LONG_TASKS = 12;

/** Works on tasks that together take 2.4 s, longer than one invocation may. Imports nothing of Node. */
export const longWork: ServiceOptions = {
  budget: "1s",
  consumers: {
    long: {
      batch: 2,
      concurrency: 1,
      handler: () => new Promise((resolve) => setTimeout(resolve, 200)),
    },
  },
};
