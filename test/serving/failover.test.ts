import { afterEach, beforeEach, expect, it } from "vitest";
import { serve, type Server } from "../../serverless/node.ts";
import { Queue } from "../../src/index.ts";
import { resp } from "../../src/transport/resp.ts";
import { startNamedRedis, type NamedRedis } from "../support/named-redis.ts";

let named: NamedRedis;
let server: Server;
const handled: unknown[] = [];
beforeEach(async () => {
  handled.length = 0;
  named = await startNamedRedis();
  server = await serve({
    env: { REDIS_URL: named.url },
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    every: "1s",
    consumers: { mails: async ({ payload }) => void handled.push(payload) },
    fetch: async (request, { queue }) => Response.json(await queue("mails").enqueue(await request.json())),
  });
});
afterEach(async () => {
  await server.close();
  await named.stop();
});

const enqueue = async (payload: unknown) => {
  const response = await fetch(`${server.url}/enqueue`, { method: "POST", body: JSON.stringify(payload) });
  return response.json();
};
const statusOfHealth = async () => (await fetch(`${server.url}/health`)).status;
const until = (payloads: readonly unknown[]) =>
  expect.poll(() => handled, { timeout: 60_000 }).toEqual(payloads);

it("serves requests and works on tasks after a failover that leaves the old master as a replica", async () => {
  expect(await enqueue(1)).toMatchObject({ created: true });
  await until([1]);
  await named.failOver();
  expect(await enqueue(2)).toMatchObject({ created: true });
  await until([1, 2]);
  expect(await statusOfHealth()).toBe(200);
});

it("works on what others enqueue at the new master, without a request", async () => {
  await until([]);
  await named.failOver();
  const transport = resp(named.replica.url);
  await new Queue("mails", { transport }).enqueueMany([1, 2].map((payload) => ({ payload })));
  await transport.close();
  await until([1, 2]);
});
