import { queuesQuery } from "../../src/http/schemas/queues.ts";
import { exampleTime, type OperationText } from "./operation-text.ts";

export const queues: readonly OperationText[] = [
  {
    method: "get",
    path: "/v1/queues",
    operationId: "listQueues",
    tag: "queues",
    summary: "List the queues",
    description:
      "Only those that the token is for. A page may be short, or empty, with more to come: follow `cursor`.",
    scopes: ["admin"],
    query: queuesQuery,
    answers: {
      200: {
        description: "A page of queues.",
        schemas: ["Queues"],
        examples: { some: { queues: [{ name: "emails", seenAt: exampleTime }], cursor: null } },
      },
    },
  },
  {
    method: "get",
    path: "/v1/queues/{queue}",
    operationId: "getQueue",
    tag: "queues",
    summary: "Counts of a queue",
    description: "A queue that nothing was enqueued to counts 0 everywhere.",
    scopes: ["admin"],
    answers: {
      200: {
        description: "The counts.",
        schemas: ["Queue"],
        examples: {
          some: {
            queue: "emails",
            pending: 120,
            delayed: 7,
            working: 10,
            rejected: 2,
            oldestAge: 4_300,
            nextDueAt: exampleTime + 30_000,
            broken: 0,
            workers: 2,
            paused: false,
          },
        },
      },
    },
  },
];
