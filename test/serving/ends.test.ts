import { execFile } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EventEmitter, once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { HEADER_BOUNDS, listen } from "../../src/deploy/process/node-listener.ts";
import { start } from "../../src/deploy/process/process.ts";
import type { Runtime } from "../../src/deploy/process/types.ts";
import { listening } from "../support/listening.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";

// What a server leaves behind.

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

/** Starts a program that has `serve` and `around`, the options of a server on this Redis. */
function startProgram(program: string) {
  const serving = JSON.stringify(new URL("../../serverless/node.ts", import.meta.url).href);
  const around = { env: { REDIS_URL: redis.url }, port: 0, hostname: "127.0.0.1" };
  const source = `import { serve } from ${serving}; const around = ${JSON.stringify(around)}; ${program}`;
  return promisify(execFile)(process.execPath, ["--input-type=module", "--eval", source]);
}

it("keeps its process no longer than until it has closed", async () => {
  const program = `const server = await serve({
      ...around,
      consumers: { later: () => {} },
      fetch: async (_, { queue }) => Response.json(await queue("later").enqueue(1, { delay: "1m" })),
    });
    await (await fetch(server.url)).json();
    await server.close();
    console.log(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout"));`;
  expect((await startProgram(program)).stdout).toBe("[]\n");
});

it("ends its process by a signal only when the other servers of the process have closed too", async () => {
  const program = `const other = await serve(around);
    const isOpen = () => fetch(other.url).then(() => true, () => false);
    const slow = await serve({ ...around, fetch: async () => {
      process.kill(process.pid, "SIGTERM");
      while (await isOpen());
      return new Response("late");
    } });
    console.log(slow.url);
    setTimeout(() => console.log("still running"), 100_000);`;
  const running = startProgram(program);
  const [url] = (await once(running.child.stdout ?? new EventEmitter(), "data")) as [string];
  expect(await (await fetch(url.trim())).text()).toBe("late");
  expect((await running).stdout).toBe(url);
});

it("does not wait for connections that become idle", async () => {
  const asked = vi.fn();
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
  const fetch = async () => {
    asked();
    await mayAnswer;
    return new Response("late");
  };
  // Node itself would keep such a connection for an hour.
  const bounds = { ...HEADER_BOUNDS, keepAliveTimeout: 3_600_000 };
  const { port, stop } = await listen(fetch, { port: 0, hostname: "127.0.0.1" }, bounds);
  const agent = new Agent({ keepAlive: true });
  const late = once(get(`http://127.0.0.1:${port}`, { agent }), "response");
  await expect.poll(() => asked.mock.calls.length).toBe(1);
  const stopped = stop();
  answer();
  const [response] = (await late) as [IncomingMessage];
  expect(await text(response)).toBe("late");
  await stopped;
  agent.destroy();
});

it("does not wait for connections on which nothing has come, and leaves those whose request is on its way", async () => {
  const fetch = async () => new Response("late");
  const { port, stop } = await listen(fetch, { port: 0, hostname: "127.0.0.1" });
  const accepted: Socket[] = [];
  const note = (message: unknown) => void accepted.push((message as { readonly socket: Socket }).socket);
  subscribe("net.server.socket", note);
  onTestFinished(() => void unsubscribe("net.server.socket", note));
  const other = createServer();
  const own = { host: "127.0.0.1", port };
  const [unused, half] = [connect(own), connect(own)];
  const elsewhere = connect(await listening(other), "127.0.0.1");
  half.write("GET / HTTP/1.1\r\nHost: x\r\n");
  const begun = () => accepted.filter(({ bytesRead }) => bytesRead > 0).length;
  await expect.poll(() => [accepted.length, begun()]).toEqual([3, 1]);
  const left = vi.fn();
  elsewhere.once("close", left);
  const stopped = stop();
  await once(unused.resume(), "close");
  half.write("Connection: close\r\n\r\n");
  expect(await text(half)).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*late/);
  await stopped;
  expect(left).not.toHaveBeenCalled();
  elsewhere.destroy();
  other.close();
});

it("leaves neither a connection nor a cron if it cannot listen", async () => {
  const client = await createClient({ url: redis.url }).connect();
  const connections = async () => (await client.clientList()).length;
  // The connections of earlier servers are closed.
  await expect.poll(connections).toBe(1);
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
  await expect.poll(connections).toBe(1);
  client.destroy();
});
