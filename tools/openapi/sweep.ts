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

export const sweep: readonly OperationText[] = [
  {
    method: "post",
    path: "/v1/sweep",
    operationId: "sweep",
    tag: "operation",
    summary: "Promote due tasks and reclaim expired leases, or scan and repair the queues",
    description: [
      "Call it once a minute, unless the platform's cron already does. It also enqueues the due occurrences of schedules. A token sweeps the queues for which it has the scope `admin`; the cron secret sweeps all queues.",
      "With `deep: true` it scans every entry for contradictions, repairs them and reports what it found: tasks in no key or in two, leases without a holder, unreadable records, wrong counts. A failover that restores an older state of some keys can cause them. The deep sweep works beside live traffic and does not change valid entries. If `cursor` is not null, call again with it. A queue with up to 100 tasks costs at most 91 Redis commands, or 110 if they have groups. Each further 100 tasks cost about 5, or 15. It is refused with `unsupported` if the server has not turned it on.",
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
    responses: {
      200: {
        description: "The counts of what was done.",
        schemas: ["Swept", "DeepSwept"],
        examples: { some: swept, deep: deepSwept },
      },
    },
    problems: ["unsupported"],
  },
  {
    method: "get",
    path: "/v1/sweep",
    operationId: "sweepByCron",
    tag: "operation",
    summary: "Sweep, for a cron that can only GET",
    description:
      "Accepts only the cron secret, in `Authorization: Bearer …`. Sweeps all queues, for at most 20 seconds.",
    scopes: ["cron"],
    responses: {
      200: { description: "The counts of what was done.", schemas: ["Swept"], examples: { some: swept } },
    },
  },
];
