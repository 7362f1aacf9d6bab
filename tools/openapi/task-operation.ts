import { searchQuery } from "../../src/http/request-schemas/search.ts";
import { deadLettersQuery, tasksQuery } from "../../src/http/request-schemas/task-operation.ts";
import { exampleTime, type OperationText } from "./operation-text.ts";

const dead = {
  id: "welcome-17",
  queue: "emails",
  state: "rejected",
  reason: "attempts_exhausted",
  attempt: 5,
  charged: 5,
  lease: 42,
  requeues: 3,
  version: 11,
  transitions: [{ version: 11, to: "rejected", at: exampleTime + 60_000 }],
  errors: [
    { attempt: 4, at: exampleTime + 40_000, error: null },
    { attempt: 5, at: exampleTime + 60_000, error: "503 from the receiver" },
  ],
  enqueuedAt: exampleTime,
  dequeuedAt: exampleTime + 59_000,
  endedAt: exampleTime + 60_000,
  error: "503 from the receiver",
  payload: { to: "a@example.com" },
};

const { payload: _, ...deadWithoutPayload } = dead;

export const taskOperation: readonly OperationText[] = [
  {
    method: "get",
    path: "/v1/queues/{queue}/tasks",
    operationId: "listTasks",
    tag: "tasks",
    summary: "List, search and peek at the tasks in one state",
    description: [
      "Pending tasks are in the order of delivery, delayed and working tasks in the order in which they fall due, completed tasks in the order in which their records expire, and dead letters in the order in which they were rejected. With `reverse=true` the last ones come first, also over all partitions. Nothing is leased: `state=pending&size=10&payloads=true` peeks at the next tasks.",
      "With a filter, one call scans 1,000 tasks. A page can then hold few tasks or none although more follow: continue with `cursor`, percent-encoded. A task that changes its state between pages may appear twice. If pending tasks are pulled between pages, others may be left out.",
    ].join("\n\n"),
    scopes: ["view"],
    query: tasksQuery,
    queryExample: { state: "rejected", text: "503" },
    responses: {
      200: {
        description: "A page of tasks.",
        schemas: ["ListedTasks"],
        examples: { "a dead letter": { tasks: [dead], cursor: null, unreadable: 0 } },
      },
    },
  },
  {
    method: "get",
    path: "/v1/search",
    operationId: "search",
    tag: "tasks",
    summary: "Search all queues for a text",
    description:
      "Looks for a text in ids, payloads, errors and results. A task with the text as its id comes first. Then the queues of the token follow in the order of their names; in each first dead letters, then working, pending, delayed, completed and cancelled tasks, the last ones first. One request looks at some 20,000 tasks: a page can be short or empty although more follow. Continue with `cursor`, percent-encoded. Values that are encrypted or in an object store are not searched, but counted in `unsearched`. A token that hides payloads searches ids and errors alone.",
    scopes: ["view"],
    query: searchQuery,
    queryExample: { text: "a@example.com" },
    responses: {
      200: {
        description: "Tasks, and how far the request has looked.",
        schemas: ["FoundTasks"],
        examples: {
          "a dead letter": {
            tasks: [{ ...deadWithoutPayload, preview: '{"to":"a@example.com"}', found: "payload" }],
            looked: { tasks: 240, queues: 3 },
            unsearched: 0,
            failed: [],
            cursor: null,
          },
        },
      },
    },
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/dead-letters",
    operationId: "countDeadLetters",
    tag: "tasks",
    summary: "Count dead letters by cause and by group",
    description:
      "Counts up to 5,000 dead letters, the newest first. If `cursor` is not null there are more: continue with it, and add the counts up. A cause is a reason and an error without its ids and numbers, except status codes.",
    scopes: ["view"],
    query: deadLettersQuery,
    responses: {
      200: {
        description: "The counts.",
        schemas: ["DeadLetters"],
        examples: {
          "one cause": {
            counted: 118,
            causes: [
              {
                reason: "attempts_exhausted",
                error: "503 from the receiver",
                text: "503 from the receiver",
                count: 118,
                firstAt: exampleTime,
                lastAt: exampleTime + 60_000,
                latest: { id: "welcome-17", lease: 42 },
              },
            ],
            groups: [{ group: null, count: 118, firstAt: exampleTime, lastAt: exampleTime + 60_000 }],
            otherCauses: 0,
            otherGroups: 0,
            cursor: null,
            unreadable: 0,
          },
        },
      },
    },
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/tasks/cancel",
    operationId: "cancelTasks",
    tag: "tasks",
    summary: "Cancel several tasks",
    description:
      "Cancels up to 1,000 tasks, each as the request for one does. A copy of the request has the same answer.",
    scopes: ["enqueue"],
    body: {
      schemas: ["CancelMany"],
      required: true,
      examples: { two: { ids: ["welcome-17", { id: "welcome-18", lease: 43 }] } },
    },
    responses: {
      200: {
        description: "What became of each task.",
        schemas: ["CancelledMany"],
        examples: {
          two: {
            results: [
              { id: "welcome-17", ok: true, state: "rejected" },
              { id: "welcome-18", ok: false, code: "lease_lost" },
            ],
          },
        },
      },
    },
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/tasks/delete",
    operationId: "deleteTasks",
    tag: "tasks",
    summary: "Delete several tasks that have ended",
    description: "Deletes the records of up to 1,000 tasks, each as the request for one does.",
    scopes: ["admin"],
    body: {
      schemas: ["DeleteMany"],
      required: true,
      examples: { two: { ids: ["welcome-17", "welcome-18"] } },
    },
    responses: {
      200: {
        description: "What became of each task.",
        schemas: ["DeletedMany"],
        examples: {
          two: {
            results: [
              { id: "welcome-17", ok: true },
              { id: "welcome-18", ok: false, code: "alive" },
            ],
          },
        },
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
      "Deletes the task's record with its result, error and payload. The id stays known for five minutes after the end of the task, so that a late copy of its enqueue creates nothing. During that time a second DELETE gets the same response. An id that was enqueued with `unique` stays known for that time.",
    scopes: ["admin"],
    responses: {
      200: {
        description: "The task is deleted.",
        schemas: ["TaskDeleted"],
        examples: { deleted: { id: "welcome-17", deleted: true } },
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
      "Redrives dead letters by `ids` or by filter, or all of them with `{}`. They go to the back of the queue, the oldest dead letter first, and their charged attempts are reset. Cancelled tasks are not dead letters. If `cursor` is not null, call again with it. A copy of a request by ids changes nothing, unless a task has become a dead letter again. With the `lease` of each task, it changes nothing then either. A copy of a request by filter continues where the first stopped.",
    scopes: ["admin"],
    body: {
      schemas: ["Redrive"],
      required: true,
      examples: {
        "a dry run": { text: "503", endedSince: exampleTime, dryRun: true },
        "ten a second": { text: "503", rate: 10 },
        "by id": { ids: ["welcome-17", { id: "welcome-18", lease: 43 }] },
      },
    },
    responses: {
      200: {
        description: "The counts of what was done.",
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
      "Pending, delayed and blocked tasks are cancelled. The records of completed and rejected tasks are deleted. Working tasks are never purged: cancel them. A filter of pending tasks must name a group. If `cursor` is not null, call again with it. A copy of the request continues where the first stopped.",
    scopes: ["admin"],
    body: {
      schemas: ["Purge"],
      required: true,
      examples: {
        "old dead letters": { state: "rejected", endedUntil: exampleTime },
        "the pending tasks of a group": { state: "pending", group: "tenant-7" },
      },
    },
    responses: {
      200: {
        description: "The counts of what was done.",
        schemas: ["Purged"],
        examples: { all: { purged: 118, cursor: null, unreadable: 0 } },
      },
    },
    problems: ["queue_full"],
  },
];
