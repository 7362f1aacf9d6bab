import { tasksQuery } from "../../src/http/schemas/task-operation.ts";
import { exampleTime, type OperationText } from "./operation-text.ts";

const dead = {
  id: "welcome-17",
  queue: "emails",
  state: "rejected",
  reason: "attempts_exhausted",
  attempt: 5,
  charged: 5,
  lease: 42,
  requeues: 4,
  version: 11,
  transitions: [{ version: 11, to: "rejected", at: exampleTime + 60_000 }],
  enqueuedAt: exampleTime,
  dequeuedAt: exampleTime + 59_000,
  endedAt: exampleTime + 60_000,
  error: "503 from the receiver",
  payload: { to: "a@example.com" },
};

export const taskOperation: readonly OperationText[] = [
  {
    method: "get",
    path: "/v1/queues/{queue}/tasks",
    operationId: "listTasks",
    tag: "tasks",
    summary: "Page through the tasks in one state, search them, peek",
    description: [
      "Pending tasks come in the order of delivery, delayed and working ones as they fall due, completed ones as their records expire, dead letters as they died. Nothing is leased: `state=pending&size=10&payloads=true` peeks at what is next.",
      "With a filter one call looks at 1,000 tasks, so a page may hold few or none with more to come: follow `cursor`, percent-encoded. A task that moves meanwhile may come twice, or, where pending ones are pulled between pages, be passed by.",
    ].join("\n\n"),
    scopes: ["admin"],
    query: tasksQuery,
    queryExample: { state: "rejected", text: "503" },
    answers: {
      200: {
        description: "A page of tasks.",
        schemas: ["ListedTasks"],
        examples: { "a dead letter": { tasks: [dead], cursor: null, unreadable: 0 } },
      },
    },
  },
  {
    method: "delete",
    path: "/v1/queues/{queue}/tasks/{id}",
    operationId: "deleteTask",
    tag: "tasks",
    summary: "Delete a task that has ended",
    description:
      "Its record goes, with result, error and payload. Within five minutes of its end the id stays known, so that a late copy of its enqueue creates nothing; for so long a second DELETE is answered as the first.",
    scopes: ["admin"],
    answers: {
      200: {
        description: "It is gone.",
        schemas: ["TaskDeleted"],
        examples: { gone: { id: "welcome-17", deleted: true } },
      },
    },
    problems: ["not_found", "alive"],
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/redrive",
    operationId: "redrive",
    tag: "tasks",
    summary: "Make dead letters pending again",
    description:
      "By `ids`, by filter, or all with `{}`; at the back of the queue, the longest dead first. Attempts that were charged are forgotten. Cancelled tasks are no dead letters. Where `cursor` is not null, call again with it. A copy of a request by ids does no more than the first until a task has died again, and with its `lease` not even then; one by filter goes on where the first stopped.",
    scopes: ["admin"],
    body: {
      schemas: ["Redrive"],
      required: true,
      examples: {
        "what would be redriven": { text: "503", endedSince: exampleTime, dryRun: true },
        "ten a second": { text: "503", rate: 10 },
        "by id": { ids: ["welcome-17", { id: "welcome-18", lease: 43 }] },
      },
    },
    answers: {
      200: {
        description: "What was done.",
        schemas: ["Redriven"],
        examples: {
          "by filter": { redriven: 118, refused: [], cursor: null, unreadable: 0 },
          "by id": {
            redriven: 1,
            refused: [{ id: "welcome-18", code: "lease_lost" }],
            cursor: null,
            unreadable: 0,
          },
        },
      },
    },
    problems: ["queue_full"],
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/purge",
    operationId: "purge",
    tag: "tasks",
    summary: "End or delete all tasks in one state",
    description:
      "Pending and delayed tasks are cancelled; the records of completed and rejected ones go. Tasks that are being worked on are never purged: cancel them. A filter of pending tasks has to name a group. Where `cursor` is not null, call again with it; a copy of the request goes on where the first stopped.",
    scopes: ["admin"],
    body: {
      schemas: ["Purge"],
      required: true,
      examples: {
        "old dead letters": { state: "rejected", endedUntil: exampleTime },
        "what a group has pending": { state: "pending", group: "tenant-7" },
      },
    },
    answers: {
      200: {
        description: "What was done.",
        schemas: ["Purged"],
        examples: { all: { purged: 118, cursor: null, unreadable: 0 } },
      },
    },
    problems: ["queue_full"],
  },
];
