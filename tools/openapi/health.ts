import { healthQuery } from "../../src/http/request-schemas/health.ts";
import { exampleTime, type OperationText } from "./operation-text.ts";

export const health: readonly OperationText[] = [
  {
    method: "get",
    path: "/v1/health/queues",
    operationId: "getQueuesHealth",
    tag: "operation",
    summary: "Get what is wrong with the queues, and what to do",
    description:
      "The findings of `sluice doctor`, about the queues for which the token has the scope, at most 1,000. Those about the settings of Redis need a token for all queues. `no_queue`: none in use matches `queues`. One that has been empty for an hour is not in use. Each queue costs as many Redis commands as its counts, and 2 if it is empty, else about 10.",
    scopes: ["view"],
    query: healthQuery,
    queryExample: { after: "5m", fail: "problem" },
    responses: {
      200: {
        description: "The findings.",
        schemas: ["QueuesHealth"],
        examples: {
          some: {
            status: "problem",
            now: exampleTime,
            findings: [
              { status: "ok", code: "clock_off", about: "clock", found: "this server and Redis agree" },
              {
                status: "problem",
                code: "nothing_ends",
                about: "emails",
                found: "2 working, the longest for 22m 5s, and nothing has ended for 20m",
                advice:
                  "a handler hangs: sluice ls emails --state working. Restart its process, and give the consumer a timeout",
                queue: "emails",
              },
              {
                status: "warning",
                code: "schedule_paused",
                about: "reports",
                found: "schedule daily has been paused for 6h (1 occurrence missed, the last 2h ago)",
                advice:
                  "sluice schedules reports --resume daily; what was missed is not made up: sluice schedules reports --run daily",
                queue: "reports",
                names: ["daily"],
              },
            ],
            queues: [
              { queue: "emails", status: "problem", pending: 40, working: 2 },
              { queue: "reports", status: "warning", pending: 0, working: 0 },
            ],
            truncated: false,
          },
        },
      },
    },
    problems: ["unhealthy"],
  },
];
