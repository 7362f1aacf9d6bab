import { expect, onTestFinished, test, vi } from "vitest";
import { serve } from "../../../serverless/node.ts";
import { push } from "../../../src/features/push/index.ts";
import { defineEndpoints } from "../../../src/http/endpoints/index.ts";
import { defineQueue } from "../../../src/index.ts";
import { runHere } from "../../cli/run-here.ts";
import { useRig } from "../../support/rig.ts";
import { startReceiver } from "../push/receiver.ts";

// A server over a real Redis: endpoints by the command line, an event by HTTP, a delivery to a real receiver.

const rig = useRig();
const TOKEN = "all-0123456789abcdef";

test("a server delivers the events of requests to the endpoints that the command line has added", async () => {
  vi.spyOn(console, "info").mockImplementation(() => {});
  const policy = { allowPrivate: ["127.0.0.1"] };
  const endpoints = defineEndpoints({ policy });
  const server = await serve({
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    env: {
      REDIS_URL: rig.redis.url,
      SLUICE_TOKENS: JSON.stringify([{ token: TOKEN, scopes: ["enqueue", "admin"], queues: "*" }]),
    },
    endpoints,
    consumers: [defineQueue("deliveries").consumer(push({ endpoints, ...policy }))],
  });
  onTestFinished(async () => {
    await server.close();
    vi.restoreAllMocks();
  });
  const receiver = await startReceiver();
  const where = { SLUICE_URL: server.url, SLUICE_TOKEN: TOKEN };
  const added = await runHere(["endpoints", "add", "acme", `url=${receiver.url}`, "types=orders.*"], where);
  expect([added.code, added.err]).toEqual([0, ""]);
  const response = await fetch(`${server.url}/v1/endpoints/send`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ id: "o1", type: "orders.paid", payload: { order: 17 } }),
  });
  expect(response.status).toBe(201);
  const { deliveries } = await endpoints.in(server.tools).send({ id: "o2", type: "orders.paid", payload: 1 });
  expect(deliveries).toMatchObject([{ id: "o2.{acme}" }]);
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(2), 10_000);
  expect(receiver.requests.find(({ headers }) => headers["webhook-id"] === "o1.{acme}")).toMatchObject({
    body: '{"order":17}',
    headers: { "webhook-signature": expect.stringMatching(/^v1,/) },
  });
});
