import { execFile } from "node:child_process";
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { serve } from "../../serverless/node.ts";
import { type Runtime, start } from "../../serverless/process/process.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";

// What a server leaves behind.

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

it("keeps its process no longer than until it has closed", async () => {
  const program = `
    import { serve } from ${JSON.stringify(new URL("../../serverless/node.ts", import.meta.url).href)};
    const env = { REDIS_URL: ${JSON.stringify(redis.url)} };
    const server = await serve({ env, port: 0, hostname: "127.0.0.1" });
    await server.close();
    console.log("closed");
  `;
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    timeout: 20_000,
  });
  expect((await run).stdout).toBe("closed\n");
});

it("ends its process by a signal only when the other servers of the process have closed too", async () => {
  const program = `
    import { serve } from ${JSON.stringify(new URL("../../serverless/node.ts", import.meta.url).href)};
    const around = { env: { REDIS_URL: ${JSON.stringify(redis.url)} }, port: 0, hostname: "127.0.0.1" };
    await serve(around);
    let asked;
    const isAsked = new Promise((resolve) => (asked = resolve));
    const slow = await serve({ ...around, fetch: async () => {
      asked();
      await new Promise((resolve) => setTimeout(resolve, 500));
      return new Response("late");
    } });
    const late = fetch(slow.url).then((response) => response.text());
    await isAsked;
    process.kill(process.pid, "SIGTERM");
    console.log(await late);
    setTimeout(() => console.log("still running"), 30_000);
  `;
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    timeout: 20_000,
  });
  expect((await run).stdout).toBe("late\n");
});

it("does not wait for idle connections", async () => {
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
  const server = await serve({
    env: { REDIS_URL: redis.url },
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    async fetch() {
      asked();
      await mayAnswer;
      return new Response("late");
    },
  });
  const agent = new Agent({ keepAlive: true });
  const late = once(get(server.url, { agent }), "response");
  await isAsked;
  const closed = server.close();
  answer();
  const [response] = (await late) as [IncomingMessage];
  expect(await text(response)).toBe("late");
  const began = performance.now();
  await closed;
  // Node itself keeps such a connection for five seconds.
  expect(performance.now() - began).toBeLessThan(2_500);
  agent.destroy();
});

it("leaves neither a connection nor a cron if it cannot listen", async () => {
  const client = await createClient({ url: redis.url }).connect();
  const connections = async () => (await client.clientList()).length;
  // The connections of earlier servers are closed.
  await expect.poll(connections, { timeout: 10_000 }).toBe(1);
  const signals: AbortSignal[] = [];
  const runtime: Runtime = {
    grace: "1s",
    cron: (_, signal) => void signals.push(signal),
    async listen(fetch) {
      expect(await (await fetch(new Request("http://sluice.test/health"))).json()).toEqual({ status: "ok" });
      expect([await connections(), signals.map(({ aborted }) => aborted)]).toEqual([2, [false]]);
      throw new Error("the port is taken");
    },
  };
  const started = start(runtime, { env: { REDIS_URL: redis.url }, signals: false });
  await expect(started).rejects.toThrow(/^the port is taken$/);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  await expect.poll(connections, { timeout: 10_000 }).toBe(1);
  client.destroy();
});
