import { exampleTime, type OperationText } from "./operation-text.ts";

export const diagnostics: readonly OperationText[] = [
  {
    method: "get",
    path: "/v1/token",
    operationId: "getToken",
    tag: "about",
    summary: "Get what the token may do",
    description: "The scopes of the caller's token, each with the pattern of its queues.",
    scopes: ["enqueue", "consume", "view"],
    responses: {
      200: {
        description: "What the token may do.",
        schemas: ["Token"],
        examples: { some: { grants: [{ scopes: ["enqueue", "consume"], queues: "emails-*" }] } },
      },
    },
  },
  {
    method: "get",
    path: "/v1/diagnostics",
    operationId: "getDiagnostics",
    tag: "operation",
    summary: "Get the state of Redis",
    description:
      "What Redis reports of itself, and how long a script call takes. `sluice doctor` says what to do about it.",
    scopes: ["view"],
    responses: {
      200: {
        description: "The state of Redis.",
        schemas: ["Diagnostics"],
        examples: {
          some: {
            now: exampleTime,
            roundTrip: 4,
            version: "7.2.4",
            evictionPolicy: "noeviction",
            usedMemory: 41_000_000,
            maxMemory: 268_435_456,
            appendOnly: true,
          },
        },
      },
    },
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/diagnostics",
    operationId: "getQueueDiagnostics",
    tag: "operation",
    summary: "Check the keys of a queue",
    description:
      "Checks a small queue in one script call, and changes nothing. It also reports the size of the hash that holds the tasks; Upstash allows 100 MB a key.",
    scopes: ["view"],
    responses: {
      200: {
        description: "The state of the queue's keys.",
        schemas: ["QueueDiagnostics"],
        examples: {
          some: { queue: "emails", fields: 320, bytes: 81_000, valid: true, entries: 96 },
        },
      },
    },
  },
];
