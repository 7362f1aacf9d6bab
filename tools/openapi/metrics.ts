import { metricsQuery } from "../../src/http/request-schemas/metrics.ts";
import type { OperationText } from "./operation-text.ts";

const text = `# TYPE sluice_queue_tasks gauge
# HELP sluice_queue_tasks Tasks by state. Rejected tasks are dead letters.
sluice_queue_tasks{queue="emails",state="pending"} 120
sluice_queue_tasks{queue="emails",state="delayed"} 7
sluice_queue_tasks{queue="emails",state="working"} 10
sluice_queue_tasks{queue="emails",state="rejected"} 2
# EOF
`;

export const metrics: readonly OperationText[] = [
  {
    method: "get",
    path: "/metrics",
    operationId: "getMetrics",
    tag: "operation",
    summary: "Get the metrics of all queues, for Prometheus",
    description:
      "OpenMetrics text, or the older Prometheus text if `Accept` names only `text/plain`. It has the queues for which the token has the scope, at most 1,000 of them. Queues that keep statistics also have counters and histograms. Each queue costs as many Redis commands as its counts, and the list of queues 3.",
    scopes: ["view"],
    query: metricsQuery,
    queryExample: { queues: "emails-*" },
    responses: {
      200: { description: "The metrics.", schemas: ["Metrics"], examples: { some: text } },
    },
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/load",
    operationId: "getLoad",
    tag: "queues",
    summary: "Get the load of a queue, to scale its consumers",
    description:
      "Numbers for autoscalers. Divide `backlog` by the tasks that one consumer works on at once. A queue that does not exist has no load.",
    scopes: ["view"],
    responses: {
      200: {
        description: "The load.",
        schemas: ["Load"],
        examples: {
          some: {
            queue: "emails",
            pending: 120,
            working: 10,
            paused: false,
            backlog: 130,
            workers: 2,
            perWorker: 60,
            oldestAge: 4_300,
            perMinute: { enqueued: 29.4, completed: 27.8 },
          },
        },
      },
    },
  },
];
