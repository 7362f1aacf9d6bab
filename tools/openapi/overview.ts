import { overviewQuery } from "../../src/http/request-schemas/overview.ts";
import { seriesNames } from "../../src/http/response-schemas/queues.ts";
import { exampleTime, type OperationText } from "./operation-text.ts";
import { counts, none, period, settings } from "./queues.ts";

const perMinute = { ...none, enqueued: 29.4, dequeued: 28.2, completed: 27.8, requeued: 0.4 };
const lastMinute: Readonly<Record<string, number>> = {
  enqueued: 30,
  dequeued: 28,
  completed: 27,
  failed: 1,
};
const quiet = Array.from({ length: 59 }, () => 0);
const series = Object.fromEntries(seriesNames.map((name) => [name, [...quiet, lastMinute[name] ?? 0]]));

export const overview: readonly OperationText[] = [
  {
    method: "get",
    path: "/v1/overview",
    operationId: "getOverview",
    tag: "queues",
    summary: "Get the counts, settings and last hour of several queues",
    description:
      "For dashboards. All queues are read in one request to Redis; each costs as many commands as its counts. The token needs the scope for each of them. A queue that does not exist has no tasks.",
    scopes: ["view"],
    query: overviewQuery,
    queryExample: { queues: "emails,reports" },
    responses: {
      200: {
        description: "What there is to see of each queue.",
        schemas: ["Overviews"],
        examples: {
          some: {
            now: exampleTime,
            queues: [
              {
                queue: "emails",
                ...counts,
                settings,
                statistics: {
                  on: true,
                  perMinute,
                  series,
                  waits: period.waits,
                  waitP95: 1_000,
                  runs: period.runs,
                  calls: period.calls,
                },
                partitions: 1,
              },
              { queue: "reports", code: "newer_schema" },
            ],
          },
        },
      },
    },
  },
];
