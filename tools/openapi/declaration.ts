import type { OperationText } from "./operation-text.ts";

export const declaration: readonly OperationText[] = [
  {
    method: "put",
    path: "/v1/queues/{queue}/declaration",
    operationId: "declareQueue",
    tag: "queues",
    summary: "Apply the declaration of a queue",
    description:
      "Applies settings and schedules, if they differ from the declaration that was applied last. What was set in another way since then stays. A deployment does the same with the queues that its code declares; `sluice deploy` calls this route.",
    scopes: ["admin"],
    body: {
      schemas: ["Declaration"],
      required: true,
      examples: {
        some: {
          settings: { rate: { most: 5, per: "1s" }, events: true },
          schedules: [{ name: "digest", cron: "0 9 * * 1", payload: { to: "team@example.com" } }],
        },
      },
    },
    responses: {
      200: {
        description: "What was done.",
        schemas: ["Declared"],
        examples: { some: { queue: "emails", status: "applied" } },
      },
    },
    problems: ["unsupported"],
  },
];
