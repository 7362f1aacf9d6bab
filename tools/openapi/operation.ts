import type { OperationText } from "./operation-text.ts";

const swept = { queues: 3, promoted: 12, reclaimed: 1, rejected: 0, expired: 40, more: false, failed: [] };

export const operation: readonly OperationText[] = [
  {
    method: "post",
    path: "/v1/sweep",
    operationId: "sweep",
    tag: "operation",
    summary: "Promote due tasks, reclaim expired leases",
    description:
      "What cron calls once a minute where the platform has no cron binding. With a token it sweeps the queues that the token is for, with the cron secret all of them.",
    scopes: ["admin", "cron"],
    body: { schemas: ["Sweep"], required: false, examples: { short: { budget: "5s" } } },
    answers: {
      200: { description: "What was done.", schemas: ["Swept"], examples: { some: swept } },
    },
  },
  {
    method: "get",
    path: "/v1/sweep",
    operationId: "sweepByCron",
    tag: "operation",
    summary: "The same, for a cron that can only GET",
    description:
      "Opened by the cron secret alone, in `Authorization: Bearer …`. Sweeps all queues for at most 20 seconds.",
    scopes: ["cron"],
    answers: {
      200: { description: "What was done.", schemas: ["Swept"], examples: { some: swept } },
    },
  },
];
