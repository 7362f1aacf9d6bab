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
      "The payload of a task is any JSON value, or bytes in base64. Up to 1,000 tasks can be sent in one request as `tasks`; either all are enqueued or none. With an `id` of your own, or an `Idempotency-Key`, a request can be resent safely while the task is known: until it ends, and then for its `resultTtl` or `deadTtl`, at least 5 minutes. With `unique` it is known for that time from the enqueue on, if that is longer. The same key with other tasks is refused with `idempotency_key_reused` while a task that it created is known. Encrypted payloads are not compared. A task with another `id` of its own is not refused, but created.",
    scopes: ["enqueue"],
    header: "traceparent",
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
        debounced: { payload: { page: 7 }, debounce: { key: "page-7", wait: "5s", maxWait: "1m" } },
        "once an hour": { payload: { report: 7 }, dedup: { key: "report-7", window: "1h" } },
        bytes: { payload: "AAEC/w==", encoding: "base64" },
      },
    },
    responses: {
      200: {
        description:
          "All tasks were already known from another enqueue. Nothing was changed, unless `outcome` says so.",
        schemas: ["EnqueuedOne", "EnqueuedMany"],
        examples: {
          one: { ...one, created: false },
          debounced: { id: "0VsJ0dW2kQ8mXyZ31aBc", created: false, outcome: "replaced" },
        },
        location: true,
      },
      201: {
        description: "This request, or an earlier copy of it, created at least one task.",
        schemas: ["EnqueuedOne", "EnqueuedMany"],
        examples: { one, many },
        location: true,
      },
    },
    problems: ["queue_full", "idempotency_key_reused", "offload_failed", "unsupported"],
  },
  {
    method: "delete",
    path: "/v1/queues/{queue}/keys/{key}",
    operationId: "forgetKey",
    tag: "tasks",
    summary: "Forget a key",
    description:
      "Forgets a key of `debounce`, `throttle` and `singleton`: the next enqueue with it is as the first. Tasks stay as they are.",
    scopes: ["enqueue"],
    responses: {
      200: {
        description: "The key is not known any more.",
        schemas: ["KeyForgotten"],
        examples: { known: { key: "page-7", known: true } },
      },
    },
    problems: ["unsupported"],
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/tasks/pull",
    operationId: "pull",
    tag: "tasks",
    summary: "Pull a batch",
    description:
      "Leases up to `max` tasks to the caller, the oldest first. Responds at once, with no tasks if none is pending. Due delayed tasks and expired leases count as pending. Settle each task with its receipt before `deadlineAt`. With a `token` of your own, or an `Idempotency-Key`, a pull whose response was lost can be sent again and gets the same tasks. Without either, a resend is a new request. Make a new token for each pull: with an old one the pull gets the old response, and a pull that found nothing stays empty.",
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
    responses: {
      200: {
        description: "The leased tasks, or none.",
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
      "Settles up to 1,000 tasks, each with its own outcome. The response has one result per settlement, in the same order. A lost lease does not affect the others. With `pull`, the response also has the next batch.",
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
    responses: {
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
      "A pending or delayed task is rejected at once with the reason `cancelled`. It is not a dead letter. A working task is flagged: its holder gets `cancelRequested` at its next extend or settle.",
    scopes: ["enqueue"],
    body: {
      schemas: ["Cancel"],
      required: false,
      examples: { "only under this lease": { lease: 42 } },
    },
    responses: {
      200: {
        description: "The task is cancelled, or flagged if it is working.",
        schemas: ["Cancelled"],
        examples: { waiting: { id: "welcome-17", state: "rejected" } },
      },
    },
    problems: ["not_found", "already_ended", "lease_lost"],
  },
];
