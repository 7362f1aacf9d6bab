import type { ServiceOptions } from "../../serverless/deployment/service.ts";

export const LONG_TASKS = 12;

/** Works on tasks that take more time together, 2.4 s, than one of its invocations has. Imports nothing of Node. */
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
