import { forgetQuery, workersQuery } from "../../src/http/request-schemas/workers.ts";
import { exampleTime, type OperationText } from "./operation-text.ts";

const worker = { name: "mailer-1", incarnation: "0VsJ0dW2" };

export const workers: readonly OperationText[] = [
  {
    method: "post",
    path: "/v1/queues/{queue}/workers/heartbeat",
    operationId: "heartbeat",
    tag: "workers",
    summary: "Heartbeat of a worker, which extends all its leases",
    description:
      "Registers the worker as a listener of the queue, and extends the lease of each task that this incarnation has. A deadline never becomes earlier. Leases of other workers and incarnations are not changed, even if their receipts are sent.",
    scopes: ["consume"],
    body: {
      schemas: ["Heartbeat"],
      required: true,
      examples: { "every minute": { worker: { ...worker, silentAfter: "3m" }, lease: "5m" } },
    },
    responses: {
      200: {
        description: "The worker's leases.",
        schemas: ["HeartbeatReply"],
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
    summary: "List the workers and their tasks",
    description:
      "Lists the named workers of the queue, in no particular order. If the list changes between pages, a worker may appear twice. A worker that stays in the list is never left out.",
    scopes: ["view"],
    query: workersQuery,
    responses: {
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
                state: "working",
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
    method: "delete",
    path: "/v1/queues/{queue}/workers/{name}",
    operationId: "forgetWorker",
    tag: "workers",
    summary: "Take a worker that has ended off the list",
    description:
      "Changes no task, and is refused while the worker has tasks. A worker that still runs comes back to the list. An unknown worker counts as forgotten.",
    scopes: ["admin"],
    query: forgetQuery,
    responses: {
      200: {
        description: "The worker is not on the list.",
        schemas: ["WorkerForgotten"],
        examples: { forgotten: { name: "mailer-1", forgotten: true } },
      },
    },
    problems: ["still_working"],
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/workers/{name}/fail",
    operationId: "failWorker",
    tag: "workers",
    summary: "Take the tasks back from a dead worker",
    description:
      "Its tasks become pending again, in the order in which it took them: at the front of the queue, or at the back of their group if they have a group or a priority. Tasks without another attempt become dead letters. The worker's next heartbeat gets `worker_lost`. A process that hangs must be restarted: it works on, though what it settles is refused with `lease_lost`. An unknown worker has no tasks.",
    scopes: ["admin"],
    body: {
      schemas: ["FailWorker"],
      required: false,
      examples: { "one incarnation": { incarnation: "0VsJ0dW2" } },
    },
    responses: {
      200: {
        description: "What happened to its tasks.",
        schemas: ["WorkerFailed"],
        examples: { some: { name: "mailer-1", returned: 12, rejected: 1, more: false } },
      },
    },
  },
];
