import { workersQuery } from "../../src/http/schemas/workers.ts";
import { exampleTime, type OperationText } from "./operation-text.ts";

const worker = { name: "mailer-1", incarnation: "0VsJ0dW2" };

export const workers: readonly OperationText[] = [
  {
    method: "post",
    path: "/v1/queues/{queue}/workers/heartbeat",
    operationId: "heartbeat",
    tag: "workers",
    summary: "Sign of life of a worker, which extends all its leases",
    description:
      "Makes the worker a listener of the queue, and moves the deadline of every task that this incarnation has, never to an earlier one. Leases of other workers and incarnations stay as they are, even if their receipts are sent.",
    scopes: ["consume"],
    body: {
      schemas: ["Heartbeat"],
      required: true,
      examples: { "every minute": { worker: { ...worker, silentAfter: "3m" }, lease: "5m" } },
    },
    answers: {
      200: {
        description: "It is alive, and has these leases.",
        schemas: ["HeartbeatAnswer"],
        examples: {
          "with tasks": { leases: 12, deadlineAt: exampleTime + 300_000, cancelRequested: ["welcome-17"] },
        },
      },
    },
    problems: ["worker_lost"],
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/workers",
    operationId: "listWorkers",
    tag: "workers",
    summary: "Who works on what",
    description:
      "The workers that pull from the queue under a name, in no order. A worker may come twice where the list changes between pages; none that stays is missed.",
    scopes: ["admin"],
    query: workersQuery,
    answers: {
      200: {
        description: "A page of workers.",
        schemas: ["Workers"],
        examples: {
          some: {
            workers: [
              {
                ...worker,
                node: "fra1",
                pid: 4711,
                silentAfter: 180_000,
                seenAt: exampleTime,
                silentAt: exampleTime + 180_000,
                working: 1,
                tasks: ["welcome-17"],
              },
            ],
            now: exampleTime + 12_000,
            cursor: null,
          },
        },
      },
    },
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/workers/{name}/fail",
    operationId: "failWorker",
    tag: "workers",
    summary: "Take the tasks back from a dead worker",
    description:
      "Exactly its tasks become pending again, in the order in which it took them: at the front of the queue, or at the back of their group if they have a group or a priority. Tasks without another attempt become dead letters. The worker learns of it at its next heartbeat. An unknown worker has no tasks.",
    scopes: ["admin"],
    body: {
      schemas: ["FailWorker"],
      required: false,
      examples: { "one incarnation": { incarnation: "0VsJ0dW2" } },
    },
    answers: {
      200: {
        description: "What became of its tasks.",
        schemas: ["WorkerFailed"],
        examples: { some: { name: "mailer-1", returned: 12, rejected: 1, more: false } },
      },
    },
  },
];
