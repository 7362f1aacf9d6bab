import type { OperationText } from "./operation-text.ts";

const added = {
  id: "nightly@imports",
  created: true,
  tasks: { fetch: "0{nightly@imports}", "rows/a": "1{nightly@imports}", mail: "3{nightly@imports}" },
};

export const flows: readonly OperationText[] = [
  {
    method: "post",
    path: "/v1/flows",
    operationId: "addFlow",
    tag: "flows",
    summary: "Add tasks that wait for each other",
    description:
      "Adds up to 10,000 tasks, of one queue or several, all or none. With `completed`, `failed` or `ended` it is a batch: tasks side by side, and these callbacks. A task with `after` is `blocked` until what it waits for has ended. An unknown ref and a cycle are refused. With an `id`, or an `Idempotency-Key` from which the id derives, a request can be resent safely. The token needs the scope for each of the queues.",
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
];
