import { hostname } from "node:os";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { type ServeOptions, startDeployment } from "../../serverless/node.ts";
import { ownWorker } from "../../src/deploy/process/own-worker.ts";
import { defineQueue, Operator, Queue } from "../../src/index.ts";
import { startGateway } from "../../src/local/index.ts";
import { runHere } from "../cli/run-here.ts";
import { gate, useServers } from "./servers.ts";

// A server names itself as the worker of the tasks that its consumers have.

const { redis, command, start } = useServers();
const work = defineQueue("work");
const OWN = `${hostname()}:${process.pid}`;

/** The workers of the queue while a server works on a task, and that server's options. */
async function workersOf(options: ServeOptions, env?: Record<string, string>, worker?: { name: string }) {
  const { begun, open, handler } = gate();
  const server = await start({ consumers: [work.consumer(handler("here"), { worker })], ...options }, env);
  await work.enqueue(1, { id: "held" });
  await expect.poll(() => begun.length).toBe(1);
  const { workers } = await new Operator("work", { transport: redis.transport }).workers();
  open();
  await server.close();
  await command("FLUSHALL");
  return workers;
}

async function overHttp() {
  const gateway = await startGateway({ redisUrl: redis.url });
  const env = { REDIS_URL: "", UPSTASH_REDIS_REST_URL: gateway.url, UPSTASH_REDIS_REST_TOKEN: gateway.token };
  return { gateway, env };
}

describe("a server's consumers", () => {
  it("are named by its machine and its process over TCP, and the command line shows which has which task", async () => {
    const { begun, open, handler } = gate();
    await start({ consumers: [work.consumer(handler("here"))] });
    await work.enqueue(1, { id: "held" });
    await expect.poll(() => begun.length).toBe(1);
    const { out } = await runHere(["workers", "work"], { REDIS_URL: redis.url });
    expect(JSON.parse(out)).toMatchObject({ name: OWN, working: 1, tasks: ["held"] });
    open();
  });

  it("are named so too if the deployment is mounted in another server", async () => {
    const { begun, open, handler } = gate();
    const consumers = [work.consumer(handler("here"))];
    const mounted = await startDeployment({ env: { REDIS_URL: redis.url }, every: "1d", consumers });
    await work.enqueue(1, { id: "held" });
    await expect.poll(() => begun.length).toBe(1);
    const { workers } = await mounted.operator(work).workers();
    expect(workers).toMatchObject([{ name: OWN, tasks: ["held"] }]);
    open();
    await mounted.close();
  });

  it("have the name that they are given, and none if the option of the server says so", async () => {
    expect(await workersOf({}, {}, { name: "mailer-1" })).toMatchObject([{ name: "mailer-1" }]);
    expect(await workersOf({ worker: false })).toEqual([]);
  });

  it("have no name over HTTP, except if the option of the server says so", async () => {
    const { gateway, env } = await overHttp();
    try {
      expect(await workersOf({}, env)).toEqual([]);
      const found = await workersOf({ worker: true }, env);
      expect(found).toMatchObject([{ name: OWN, node: hostname(), pid: process.pid, tasks: ["held"] }]);
    } finally {
      await gateway.close();
    }
  });

  it("are not named by anything but true or false", async () => {
    const worker = "mailer-1" as unknown as boolean;
    await expect(start({ worker })).rejects.toMatchObject({ code: "invalid_argument", path: "worker" });
  });
});

describe("a server", () => {
  const operator = () => new Operator("work", { transport: redis.transport });
  const listed = async () => (await operator().workers()).workers;

  it("is listed as idle from its start on, and beats at each interval without a task", async () => {
    await start({ every: "1s", consumers: [work.consumer(async () => {})] });
    await expect.poll(listed).toMatchObject([{ name: OWN, state: "idle", goneAfter: 2_500, working: 0 }]);
    const [first] = await listed();
    await expect
      .poll(async () => (await listed())[0]?.seenAt ?? 0, { timeout: 20_000 })
      .toBeGreaterThan(first?.seenAt ?? Infinity);
  });
});

describe("a server that closes", () => {
  const operator = () => new Operator("work", { transport: redis.transport });
  const listed = async () => (await operator().workers()).workers;
  const idle = () => start({ consumers: [work.consumer(async () => {})] });

  it("leaves the list of workers at once, which then has the others", async () => {
    const closing = await idle();
    await expect.poll(listed).toHaveLength(1);
    const [own] = await listed();
    await Promise.all([idle(), idle()]);
    await expect.poll(listed).toHaveLength(3);
    const others = (await listed()).filter(({ incarnation }) => incarnation !== own?.incarnation);
    await closing.close();
    const left = await listed();
    const namesOf = (workers: typeof left) => new Set(workers.map(({ incarnation }) => incarnation));
    expect(namesOf(left)).toEqual(namesOf(others));
    expect(left.filter(({ failedAt }) => failedAt !== undefined)).toEqual([]);
    expect(await new Queue("work", { transport: redis.transport }).counts()).toMatchObject({ workers: 2 });
  });

  it("closes although Redis does not answer, and stays listed", async () => {
    const closing = await idle();
    await expect.poll(listed).toHaveLength(1);
    await command("CLIENT", "PAUSE", "600000", "WRITE");
    try {
      await closing.close();
    } finally {
      await command("CLIENT", "UNPAUSE");
    }
    expect(await listed()).toMatchObject([{ name: OWN, working: 0 }]);
  });

  it("stays listed while it has tasks", async () => {
    const queue = new Queue("work", { transport: redis.transport });
    const worker = ownWorker("web", 1, 60_000);
    await queue.enqueue(1, { id: "held" });
    const [task] = await queue.dequeue({ worker });
    await queue.dequeue({ worker: ownWorker("web", 1, 60_000) });
    await operator().forgetWorker(worker);
    expect(await listed()).toHaveLength(2);
    await task?.complete();
    await operator().forgetWorker(worker);
    expect(await listed()).toMatchObject([{ name: "web:1", working: 0 }]);
    await operator().forgetWorker(worker);
    expect(await listed()).toHaveLength(1);
  });
});

it.each([
  ["web-1", 7, "web-1:7"],
  ["Anna’s Mac", 7, "Anna-s-Mac:7"],
  ["-é.local", 7, "local:7"],
  ["é", 7, "process:7"],
  [undefined, 7, "process:7"],
  ["x".repeat(200), 12_345, `${"x".repeat(122)}:12345`],
])("a process on %s is the worker %s", (host, pid, name) => {
  expect(ownWorker(host, pid, 60_000)).toMatchObject({ name, pid, node: host?.slice(0, 128) });
});

it("each process is another incarnation, also on the same machine with the same id", () => {
  const [one, other] = [ownWorker("web", 1, 60_000), ownWorker("web", 1, 60_000)];
  expect(one.incarnation).not.toBe(other.incarnation);
});
