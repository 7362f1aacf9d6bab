import type { OperationText } from "./operation-text.ts";

export const about: readonly OperationText[] = [
  {
    method: "get",
    path: "/health",
    operationId: "health",
    tag: "about",
    summary: "Whether it runs",
    description: "Makes a round trip to Redis.",
    scopes: [],
    answers: {
      200: { description: "Redis answers.", schemas: ["Health"], examples: { well: { status: "ok" } } },
    },
    problems: [
      "redis_unauthorized",
      "redis_error",
      "unexpected_reply",
      "redis_quota",
      "redis_unreachable",
      "internal",
    ],
  },
  {
    method: "get",
    path: "/openapi.json",
    operationId: "openapi",
    tag: "about",
    summary: "This document",
    description: "OpenAPI 3.1, built from the schemas that check the requests.",
    scopes: [],
    answers: {
      200: { description: "The document.", schemas: ["OpenApi"], examples: {} },
    },
  },
  {
    method: "get",
    path: "/docs",
    operationId: "docs",
    tag: "about",
    summary: "This document, to read",
    description: "One page without scripts and without anything from elsewhere.",
    scopes: [],
    answers: { 200: { description: "The page.", schemas: ["Html"], examples: {} } },
  },
];
