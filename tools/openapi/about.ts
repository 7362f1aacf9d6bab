import type { OperationText } from "./operation-text.ts";

export const about: readonly OperationText[] = [
  {
    method: "get",
    path: "/health",
    operationId: "health",
    tag: "about",
    summary: "Check that the server and Redis run",
    description:
      "Deletes a key that never exists. Only a Redis that takes writes answers this. It costs one command.",
    scopes: [],
    responses: {
      200: { description: "Redis takes writes.", schemas: ["Health"], examples: { ok: { status: "ok" } } },
    },
    problems: [
      "redis_unauthorized",
      "redis_error",
      "unexpected_reply",
      "redis_quota",
      "redis_not_writable",
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
    responses: {
      200: { description: "The document.", schemas: ["OpenApi"], examples: {} },
    },
  },
  {
    method: "get",
    path: "/docs",
    operationId: "docs",
    tag: "about",
    summary: "This document as a web page",
    description: "One page, without scripts and without resources from elsewhere.",
    scopes: [],
    responses: { 200: { description: "The page.", schemas: ["Html"], examples: {} } },
  },
];
