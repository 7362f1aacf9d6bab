import { exampleTime, type OperationText } from "./operation-text.ts";

const receipt = "1.1.42.q7XnRk2ZtB0aVd9L.welcome-17";
const one = { id: "welcome-17", created: true };
const many = { tasks: [one, { id: "0VsJ0dW2kQ8mXyZ31aBc", created: true }] };
const pulled = {
  tasks: [
    {
      id: "welcome-17",
      receipt,
      payload: { to: "a@example.com" },
      attempt: 1,
      enqueuedAt: exampleTime,
      deadlineAt: exampleTime + 60_000,
      leasedFor: 60_000,
      headers: { trace: "4bf92f35" },
    },
  ],
  nextDueAt: null,
  paused: false,
};

export const tasks: readonly OperationText[] = [
  {
    method: "post",
    path: "/v1/queues/{queue}/tasks",
    operationId: "enqueue",
    tag: "tasks",
    summary: "Enqueue one task or many",
    description:
      "A task is any JSON value, or bytes in base64. Many tasks, up to 1,000, go as `tasks` in one request and either all arrive or none. An `id` of your own, or an `Idempotency-Key`, makes a resend harmless, for as long as the task is known: while it lives, and after its end for its `resultTtl` or `deadTtl`, at least 5 minutes. The same key with other tasks is refused with `idempotency_key_reused` while a task that it created is known. Encrypted payloads are not compared, and a task with a new `id` of its own is created.",
    scopes: ["enqueue"],
    body: {
      schemas: ["NewTask", "NewTasks"],
      required: true,
      examples: {
        one: {
          payload: { to: "a@example.com" },
          id: "welcome-17",
          headers: { trace: "4bf92f35" },
        },
        many: { tasks: [{ payload: 1 }, { payload: 2, delay: "30s", lease: "1m", maxAttempts: 3 }] },
        "in a group": { payload: { to: "b@example.com" }, group: "tenant-7", priority: 5 },
        "once an hour": { payload: { report: 7 }, dedup: { key: "report-7", window: "1h" } },
        bytes: { payload: "AAEC/w==", encoding: "base64" },
      },
    },
    answers: {
      200: {
        description: "Every task was known already from another enqueue; nothing was changed.",
        schemas: ["Enqueued", "EnqueuedMany"],
        examples: { one: { ...one, created: false } },
        location: true,
      },
      201: {
        description: "At least one task was created, by this request or by an earlier copy of it.",
        schemas: ["Enqueued", "EnqueuedMany"],
        examples: { one, many },
        location: true,
      },
    },
    problems: ["queue_full", "idempotency_key_reused"],
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/tasks/pull",
    operationId: "pull",
    tag: "tasks",
    summary: "Pull a batch",
    description:
      "Leases up to `max` tasks to the caller, the oldest first, and answers at once, with none where none is pending. Due delayed tasks and expired leases count as pending. Settle each task with its receipt before `deadlineAt`. With a `token` of your own, or an `Idempotency-Key`, a pull whose answer was lost can be sent again for the same tasks; without either a resend is a new request. Make a new one for each pull: with an old one the pull gets the old answer, and one that found nothing stays empty.",
    scopes: ["consume"],
    body: {
      schemas: ["Pull"],
      required: false,
      examples: {
        batch: { max: 10, lease: "1m" },
        "as a worker": {
          max: 10,
          worker: { name: "mailer-1", incarnation: "0VsJ0dW2", node: "fra1", pid: 4711, silentAfter: "2m" },
        },
      },
    },
    answers: {
      200: {
        description: "The tasks, perhaps none.",
        schemas: ["Pulled"],
        examples: { some: pulled, none: { tasks: [], nextDueAt: exampleTime + 30_000, paused: false } },
      },
    },
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/tasks/settle",
    operationId: "settle",
    tag: "tasks",
    summary: "Complete, reject, requeue or extend",
    description:
      "Says for up to 1,000 tasks what became of them, each with an outcome of its own and a result of its own in the same order: one lost lease harms no other. With `pull` the next batch comes with the answer.",
    scopes: ["consume"],
    body: {
      schemas: ["Settle"],
      required: true,
      examples: {
        mixed: {
          settlements: [
            { receipt, outcome: "complete", result: { ok: true } },
            {
              receipt: "1.2.43.q7XnRk2ZtB0aVd9L.b",
              outcome: "requeue",
              delay: "30s",
              error: "503 from the receiver",
            },
            { receipt: "1.1.44.q7XnRk2ZtB0aVd9L.c", outcome: "reject", error: "no such address" },
            { receipt: "1.1.45.q7XnRk2ZtB0aVd9L.d", outcome: "extend", lease: "2m", progress: { sent: 40 } },
            { receipt: "1.1.46.q7XnRk2ZtB0aVd9L.e", outcome: "requeue", unstarted: true },
          ],
          pull: { max: 10 },
        },
      },
    },
    answers: {
      200: {
        description: "One result per settlement.",
        schemas: ["Settled"],
        examples: {
          mixed: {
            results: [
              { receipt, ok: true, state: "completed" },
              { receipt: "1.2.43.q7XnRk2ZtB0aVd9L.b", ok: false, code: "lease_lost" },
            ],
            pull: pulled,
          },
        },
      },
    },
    problems: ["queue_full"],
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/tasks/{id}/cancel",
    operationId: "cancelTask",
    tag: "tasks",
    summary: "Cancel a task",
    description:
      "A waiting task is rejected at once, with the reason `cancelled`, and is no dead letter. A working one is flagged: its holder learns of it at the next extend or settle.",
    scopes: ["enqueue"],
    body: {
      schemas: ["Cancel"],
      required: false,
      examples: { "while under that lease": { lease: 42 } },
    },
    answers: {
      200: {
        description: "It is cancelled, or will be.",
        schemas: ["Cancelled"],
        examples: { waiting: { id: "welcome-17", state: "rejected" } },
      },
    },
    problems: ["not_found", "already_ended", "lease_lost"],
  },
];
