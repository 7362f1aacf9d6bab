import type { OperationText } from "./operation-text.ts";

const swept = {
  queues: 3,
  promoted: 12,
  reclaimed: 1,
  rejected: 0,
  expired: 40,
  more: false,
  scheduled: 1,
  woken: 0,
  failed: [],
};

const deepSwept = {
  queues: 1,
  entries: 1_204,
  faults: [{ queue: "emails", fault: "place_missing", count: 2, ids: ["welcome-17", "welcome-18"] }],
  failed: [],
  cursor: null,
};

export const operation: readonly OperationText[] = [
  {
    method: "post",
    path: "/v1/sweep",
    operationId: "sweep",
    tag: "operation",
    summary: "Promote due tasks, reclaim expired leases; or repair what contradicts itself",
    description: [
      "What cron calls once a minute where the platform has no cron binding. It also enqueues what schedules have due. With a token it sweeps the queues that the token is for, with the cron secret all of them.",
      "With `deep: true` it looks at every entry for what contradicts itself, as a failover leaves it where keys went back in time one by one, repairs it, and reports what it found: tasks without a place or in two, leases without a holder, records beyond reading, wrong counts. It works beside live traffic, and what is sound stays as it is. Where `cursor` is not null, call again with it. A queue with up to 100 tasks costs at most 91 Redis commands, 110 where they are of groups; each further 100 tasks some 5, or 15.",
    ].join("\n\n"),
    scopes: ["admin", "cron"],
    body: {
      schemas: ["Sweep", "DeepSweep"],
      required: false,
      examples: {
        short: { budget: "5s" },
        deep: { deep: true, queue: "emails", budget: "30s" },
      },
    },
    answers: {
      200: {
        description: "What was done.",
        schemas: ["Swept", "DeepSwept"],
        examples: { some: swept, deep: deepSwept },
      },
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
