import { endpointsQuery } from "../../src/http/request-schemas/endpoints.ts";
import { exampleTime, type OperationText } from "./operation-text.ts";

const path = "/v1/endpoints";

const acme = {
  id: "acme",
  url: "https://acme.example/hooks",
  types: ["orders.*"],
  description: null,
  rate: null,
  maxWorking: 5,
  order: null,
  headers: [],
  secrets: [{ endsWith: "Jw0=", validUntil: null }],
  createdAt: exampleTime,
  state: "active",
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  retryAt: null,
};

const secret = "whsec_8rC2vPbH3YdJ6nT0KqLwZx5mAeGfUs1oIiQp9RtBJw0=";

const failing = {
  ...acme,
  state: "open",
  failingSince: exampleTime + 60_000,
  retryAt: exampleTime + 95_000,
};

const disabled = { ...acme, state: "disabled", disabledReason: "operator", disabledAt: exampleTime + 90_000 };

const changed = (name: string, example: unknown): OperationText["responses"] => ({
  200: { description: "The endpoint.", schemas: ["Endpoint"], examples: { [name]: example } },
});

export const endpoints: readonly OperationText[] = [
  {
    method: "get",
    path,
    operationId: "listEndpoints",
    tag: "endpoints",
    summary: "List the endpoints",
    description:
      "By their ids. All routes of endpoints need a token for the queue of the deliveries, `deliveries` unless the server sets another one.",
    scopes: ["view"],
    query: endpointsQuery,
    responses: {
      200: {
        description: "A page of endpoints.",
        schemas: ["Endpoints"],
        examples: { some: { queue: "deliveries", endpoints: [acme], cursor: null } },
      },
    },
  },
  {
    method: "post",
    path,
    operationId: "addEndpoint",
    tag: "endpoints",
    summary: "Add an endpoint",
    description:
      "The response has the secret that signs its deliveries. It is never shown again. If the id is known, nothing changes.",
    scopes: ["admin"],
    body: {
      schemas: ["NewEndpoint"],
      required: true,
      examples: { acme: { id: "acme", url: acme.url, types: acme.types, maxWorking: 5 } },
    },
    responses: {
      200: {
        description: "There was an endpoint with this id.",
        schemas: ["EndpointAdded"],
        examples: { known: { ...acme, created: false } },
        location: true,
      },
      201: {
        description: "The endpoint was added.",
        schemas: ["EndpointAdded"],
        examples: { added: { ...acme, created: true, secret } },
        location: true,
      },
    },
    problems: ["payload_too_large", "not_found"],
  },
  {
    method: "get",
    path: `${path}/{endpoint}`,
    operationId: "getEndpoint",
    tag: "endpoints",
    summary: "Get an endpoint",
    description: "What it is, and what has become of its deliveries.",
    scopes: ["view"],
    responses: {
      200: { description: "The endpoint.", schemas: ["Endpoint"], examples: { open: failing } },
    },
    problems: ["not_found"],
  },
  {
    method: "patch",
    path: `${path}/{endpoint}`,
    operationId: "changeEndpoint",
    tag: "endpoints",
    summary: "Change an endpoint",
    description: "Consumers follow within ten seconds. Headers are replaced as a whole.",
    scopes: ["admin"],
    body: {
      schemas: ["EndpointChanges"],
      required: true,
      examples: { slower: { rate: { most: 5, per: "1s" } } },
    },
    responses: changed("changed", { ...acme, rate: { most: 5, per: 1_000 } }),
    problems: ["not_found"],
  },
  {
    method: "delete",
    path: `${path}/{endpoint}`,
    operationId: "removeEndpoint",
    tag: "endpoints",
    summary: "Remove an endpoint",
    description: "Deliveries that wait for it become dead letters.",
    scopes: ["admin"],
    responses: {
      200: {
        description: "The endpoint is removed.",
        schemas: ["EndpointRemoved"],
        examples: { removed: { id: "acme", removed: true } },
      },
    },
    problems: ["not_found"],
  },
  {
    method: "post",
    path: `${path}/{endpoint}/disable`,
    operationId: "disableEndpoint",
    tag: "endpoints",
    summary: "Disable an endpoint",
    description: "Its deliveries become dead letters, and can be replayed.",
    scopes: ["admin"],
    responses: changed("disabled", disabled),
    problems: ["not_found"],
  },
  {
    method: "post",
    path: `${path}/{endpoint}/enable`,
    operationId: "enableEndpoint",
    tag: "endpoints",
    summary: "Enable an endpoint",
    description:
      "It goes on as if no delivery had failed. What failed before is not delivered again: replay it.",
    scopes: ["admin"],
    responses: changed("enabled", acme),
    problems: ["not_found"],
  },
  {
    method: "post",
    path: `${path}/{endpoint}/rotate`,
    operationId: "rotateEndpoint",
    tag: "endpoints",
    summary: "Give an endpoint another secret",
    description: "For a time the secret before signs too: a delivery then has both signatures.",
    scopes: ["admin"],
    body: { schemas: ["Rotation"], required: false, examples: { "for an hour": { keep: "1h" } } },
    responses: {
      200: {
        description: "The endpoint with its new secret.",
        schemas: ["EndpointWithSecret"],
        examples: {
          rotated: {
            ...acme,
            secrets: [...acme.secrets, { endsWith: "4fE=", validUntil: exampleTime + 3_600_000 }],
            secret,
          },
        },
      },
    },
    problems: ["not_found"],
  },
  {
    method: "post",
    path: `${path}/{endpoint}/replay`,
    operationId: "replayEndpoint",
    tag: "endpoints",
    summary: "Deliver again what failed",
    description:
      "Makes the dead letters of the endpoint pending again that died in a time. A disabled endpoint is refused.",
    scopes: ["admin"],
    body: {
      schemas: ["Replay"],
      required: true,
      examples: { "of an hour": { since: exampleTime, until: exampleTime + 3_600_000, rate: 10 } },
    },
    responses: {
      200: {
        description: "What was replayed.",
        schemas: ["Replayed"],
        examples: { done: { replayed: 12, cursor: null, unreadable: 0 } },
      },
    },
    problems: ["not_found"],
  },
  {
    method: "post",
    path: `${path}/send`,
    operationId: "sendEvent",
    tag: "endpoints",
    summary: "Deliver an event to endpoints",
    description:
      "Adds a task for each endpoint whose types match. A repeated request with the event's id, or with the same `Idempotency-Key`, adds only what is missing.",
    scopes: ["enqueue"],
    body: {
      schemas: ["NewEvent"],
      required: true,
      examples: { paid: { type: "orders.paid", id: "order-17", payload: { order: 17 } } },
    },
    responses: {
      200: {
        description: "No delivery was added: the event was sent before, or no endpoint gets it.",
        schemas: ["EventSent"],
        examples: { none: { id: "order-17", deliveries: [] } },
      },
      201: {
        description: "Deliveries were added.",
        schemas: ["EventSent"],
        examples: {
          sent: {
            id: "order-17",
            deliveries: [{ endpoint: "acme", id: "order-17.{acme}", created: true }],
          },
        },
      },
    },
    problems: ["payload_too_large", "queue_full"],
  },
];
