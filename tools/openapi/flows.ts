import { exampleTime, type OperationText } from "./operation-text.ts";

const added = {
  id: "nightly@imports",
  created: true,
  tasks: { fetch: "0{nightly@imports}", "rows/a": "1{nightly@imports}", mail: "3{nightly@imports}" },
};

const report = {
  id: added.id,
  state: "running",
  createdAt: exampleTime,
  isCancelled: false,
  counts: { pending: 0, delayed: 0, blocked: 1, working: 1, completed: 0, rejected: 0 },
  nodes: [
    {
      ref: "fetch",
      kind: "task",
      queue: "imports",
      id: added.tasks.fetch,
      state: "working",
      after: [],
    },
    {
      ref: "mail",
      kind: "task",
      queue: "emails",
      id: added.tasks.mail,
      state: "blocked",
      after: [{ ref: "fetch", on: "completed" }],
    },
  ],
};

export const flows: readonly OperationText[] = [
  {
    method: "post",
    path: "/v1/flows",
    operationId: "addFlow",
    tag: "flows",
    summary: "Add tasks that wait for each other",
    description:
      "Adds up to 10,000 tasks, of one queue or several, all or none. With `completed`, `failed` or `ended`, or with tasks that have no `ref`, it is a batch: tasks side by side, and these callbacks. A task with `after` is `blocked` until what it waits for has ended. An unknown ref and a cycle are refused. With an `id`, or an `Idempotency-Key` from which the id derives, a request can be resent safely. The token needs the scope for each of the queues.",
    scopes: ["enqueue"],
    body: {
      schemas: ["NewFlow", "NewBatch"],
      required: true,
      examples: {
        "a batch": {
          tasks: [
            { queue: "rows", payload: { part: 1 } },
            { queue: "rows", payload: { part: 2 } },
          ],
          completed: { queue: "emails", payload: { to: "a@example.com" } },
        },
        "an import": {
          id: "nightly",
          tasks: [
            { ref: "fetch", queue: "imports", payload: { day: "2026-11-30" } },
            { ref: "rows", flow: [{ ref: "a", queue: "rows", payload: { part: 1 } }], after: "fetch" },
            {
              ref: "mail",
              queue: "emails",
              payload: { to: "a@example.com" },
              after: [{ ref: "rows", on: "ended" }],
            },
          ],
        },
      },
    },
    responses: {
      200: {
        description: "The flow was already known. Nothing was added.",
        schemas: ["FlowAdded"],
        examples: { known: { ...added, created: false } },
        location: true,
      },
      201: {
        description: "This request, or an earlier copy of it, added the flow.",
        schemas: ["FlowAdded"],
        examples: { added },
        location: true,
      },
    },
    problems: ["queue_full", "idempotency_key_reused", "offload_failed"],
  },
  {
    method: "get",
    path: "/v1/flows/{flow}",
    operationId: "getFlow",
    tag: "flows",
    summary: "Get a flow: states, counts, and what waits for what",
    description:
      "A flow is known until an hour after its last task has ended. The token needs one of the scopes for each queue of the flow.",
    scopes: ["enqueue", "view"],
    responses: {
      200: { description: "The flow.", schemas: ["Flow"], examples: { running: report } },
    },
    problems: ["not_found"],
  },
  {
    method: "post",
    path: "/v1/flows/{flow}/cancel",
    operationId: "cancelFlow",
    tag: "flows",
    summary: "Cancel all tasks of a flow that have not ended",
    description:
      "The last ones first. Holders of working tasks get `cancelRequested`. The token needs the scope for each queue of the flow.",
    scopes: ["enqueue"],
    responses: {
      200: {
        description: "The flow is cancelled.",
        schemas: ["FlowCancelled"],
        examples: { cancelled: { id: added.id, cancelled: 2, flagged: 1 } },
      },
    },
    problems: ["not_found"],
  },
  {
    method: "post",
    path: "/v1/flows/{flow}/redrive",
    operationId: "redriveFlow",
    tag: "flows",
    summary: "Redrive all tasks of a flow that failed",
    description:
      "What was rejected because of them is blocked again. Cancelled tasks stay so. The token needs the scope for each queue of the flow.",
    scopes: ["admin"],
    responses: {
      200: {
        description: "The tasks are pending again.",
        schemas: ["FlowRedriven"],
        examples: { redriven: { id: added.id, redriven: 1 } },
      },
    },
    problems: ["not_found"],
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/tasks/{id}/before",
    operationId: "getBefore",
    tag: "flows",
    summary: "Get what a task waited for, with results and errors",
    description:
      "Results of the tasks that it came `after`, also of other queues, by their refs. They are kept until the flow has ended. A task of no flow has none.",
    scopes: ["consume"],
    responses: {
      200: {
        description: "What has become of them.",
        schemas: ["Before"],
        examples: {
          two: {
            tasks: {
              rows: { id: "1{nightly@imports}", queue: "rows", state: "completed" },
              audit: {
                id: "2{nightly@imports}",
                queue: "audits",
                state: "rejected",
                error: "503",
                reason: "attempts_exhausted",
              },
            },
          },
        },
      },
    },
  },
  {
    method: "post",
    path: "/v1/queues/{queue}/tasks/{id}/before",
    operationId: "addBefore",
    tag: "flows",
    summary: "Add tasks that a blocked task waits for",
    description:
      "The holder of a working task adds tasks in front of one that waits for it. A request of the same task with the same refs adds nothing. The token needs the scope `enqueue` for the queues of the new tasks.",
    scopes: ["consume"],
    body: {
      schemas: ["NewBefore"],
      required: true,
      examples: {
        "a page": {
          receipt: "1.1.42.q7XnRk2ZtB0aVd9L.0{crawl@pages}",
          ref: "index",
          tasks: [{ ref: "page", queue: "pages", payload: { page: 7 } }],
        },
      },
    },
    responses: {
      200: {
        description: "The tasks were already known. Nothing was added.",
        schemas: ["AddedBefore"],
        examples: { known: { created: false, tasks: { page: "gQ0{crawl@pages}" } } },
      },
      201: {
        description: "The tasks were added.",
        schemas: ["AddedBefore"],
        examples: { added: { created: true, tasks: { page: "gQ0{crawl@pages}" } } },
      },
    },
    problems: ["lease_lost", "not_blocked", "queue_full", "offload_failed"],
  },
];
