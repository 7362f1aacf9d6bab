import { describe, expect, test, vi } from "vitest";
import type { DeploymentTools } from "../../src/deploy/service.ts";
import { flow } from "../../src/features/flows/index.ts";
import { defineQueue } from "../../src/index.ts";
import { queueSpace } from "../support/key-space.ts";
import { useRig } from "../support/rig.ts";
import { SLUICE_WAKE_SECRET, useDeployments, wakeBinding } from "./deployments.ts";

// What handlers do with the tools of their deployment.
const rig = useRig();
const { lines, alarms, withAlarms, queue, deployment, idle } = useDeployments(rig);
const orders = defineQueue<number>("orders", { maxAttempts: 2, unique: "1d" });
const mails = defineQueue<number>("mails", { lease: "1m" });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const platform = { budget: "20s", afterResponse: "none" } as const;

const tasksOf = async (name: string) => queueSpace(await rig.keySpace(), name).tasks;

/** Handlers that note their payloads, and how many of them worked at the same time. */
function counting(then: (payload: number, tools: DeploymentTools) => Promise<unknown>) {
  const counts = { seen: [] as string[], working: 0, most: 0 };
  const handler =
    (name: string) =>
    async ({ payload }: { payload: number }, _: object, tools: DeploymentTools) => {
      counts.most = Math.max(counts.most, ++counts.working);
      counts.seen.push(`${name} ${payload}`);
      await then(payload, tools);
      await pause(20);
      counts.working--;
    };
  return { counts, handler };
}

/** Makes Redis forget that a consumer is awake, as after five seconds. */
const longSince = (name: string) => rig.command("HDEL", `sluice:{${name}}:tasks`, "~wake");

test("a deployment without flows refuses to add one for its own consumers, and takes one for others", async () => {
  const added: string[] = [];
  const options: Parameters<typeof deployment>[0] = {
    consumers: [mails.consumer(() => {})],
    fetch: async (_, tools) => {
      const items = [mails.name, "reports"].map((name) => ({
        ref: name,
        queue: tools.queue(name),
        payload: 1,
      }));
      for (const item of items)
        await flow(item).then(
          ({ id }) => added.push(id.slice(id.indexOf("@"))),
          (error: Error) => added.push(error.message),
        );
      return new Response();
    },
  };
  for (const parts of [{ flows: false, order: false }, {}, { requests: 50 }]) {
    const { call, ended } = deployment({ ...options, ...parts });
    await call();
    await ended();
  }
  expect(added).toEqual([
    expect.stringContaining('import { flows } from "sluice-queue/flows", and sluice({ flows, '),
    "@reports",
    "@mails",
    "@reports",
    "@mails",
    "@reports",
  ]);
  await idle("mails");
});

test("a queue that has no consumer here is named once in the log, unless it is declared", async () => {
  const enqueueAll: NonNullable<Parameters<typeof deployment>[0]>["fetch"] = async (_, tools) => {
    for (const name of ["emials", "mails", "orders", "reports", "emials"]) await tools.queue(name).enqueue(1);
    return new Response();
  };
  const linesOf = async (options: Parameters<typeof deployment>[0]) => {
    lines.err.splice(0);
    const { call, ended } = deployment({ ...options, fetch: enqueueAll });
    for (let i = 0; i < 2; i++) await call();
    await ended();
    return lines.err;
  };
  const consumers = [mails.consumer(() => {}), orders.consumer(() => {})];
  expect(await linesOf({ consumers, queues: [defineQueue("reports")] })).toEqual([
    {
      queue: "emials",
      consumer: "none",
      note:
        "this deployment has no consumer for emials; it has mails, orders: a consumer elsewhere must work on it. " +
        "If there is one, declare the queue: sluice({ queues: [ … ] })",
    },
  ]);
  expect((await linesOf({ consumers })).map(({ queue: name }) => name)).toEqual(["emials", "reports"]);
  expect(await linesOf({})).toEqual([]);
});

describe.each([
  ["an invocation", "none"],
  ["an invocation that may work after its response", "bounded"],
  ["a process", "any"],
] as const)("in %s", (_, afterResponse) => {
  const its = { ...platform, afterResponse };
  const until = (isDone: () => boolean) => vi.waitUntil(isDone, { timeout: 60_000 });

  test("the consumer of another queue works on what a handler enqueues, before the invocation ends", async () => {
    const sent = new Set<number>();
    const consumers = [
      orders.consumer(({ payload }, __, tools) => tools.queue(mails).enqueue(payload)),
      mails.consumer(({ payload }) => void sent.add(payload)),
    ];
    await queue("orders").enqueueMany([{ payload: 1 }, { payload: 2 }]);
    await deployment({ consumers }, its).cron();
    if (afterResponse === "any") await until(() => sent.size === 2);
    expect(sent).toEqual(new Set([1, 2]));
    await idle("mails");
  });

  test("consumers that enqueue to each other's queue run one drain for each, within their concurrency", async () => {
    const { counts, handler } = counting(async (payload, tools) => {
      const other = payload % 2 ? mails : orders;
      await longSince(other.name);
      if (payload < 6) await tools.queue(other).enqueue(payload + 1);
    });
    const consumers = [orders, mails].map((one) => one.consumer(handler(one.name), { concurrency: 1 }));
    await queue("orders").enqueue(1);
    await deployment({ consumers }, its).cron();
    if (afterResponse === "any") await until(() => counts.seen.length === 6);
    expect(counts.seen).toEqual(["orders 1", "mails 2", "orders 3", "mails 4", "orders 5", "mails 6"]);
    expect(counts.most).toBeLessThanOrEqual(2);
  });

  test("a task for its own queue is worked on by the same drain, within its concurrency", async () => {
    const { counts, handler } = counting(async (payload, tools) => {
      await longSince("orders");
      if (payload < 4) await tools.queue("orders").enqueue(payload + 1);
    });
    await queue("orders").enqueue(1);
    const consumers = [orders.consumer(handler("orders"), { concurrency: 1 })];
    await deployment({ consumers }, its).cron();
    expect(counts).toMatchObject({ seen: [1, 2, 3, 4].map((payload) => `orders ${payload}`), most: 1 });
  });
});

test("consumers that cron has woken, and those that handlers wake, share one drain a queue", async () => {
  const { counts, handler } = counting(() => pause(30));
  const ordered = orders.consumer(async ({ payload }, _, tools) => {
    await pause(20);
    await longSince("mails");
    await tools.queue(mails).enqueue(payload);
  });
  await queue("orders").enqueue(1);
  await queue("mails").enqueue(2);
  const consumers = [ordered, mails.consumer(handler("mails"), { concurrency: 1 })];
  await deployment({ consumers }, platform).cron();
  expect(counts.most).toBe(1);
  await idle("mails");
});

test("a handler's enqueue just before the end of its invocation wakes a consumer elsewhere", async () => {
  const { woken, wakeFetch } = wakeBinding();
  const sent: unknown[] = [];
  const late = orders.consumer(async ({ payload, signal }, _, tools) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await tools.queue(mails).enqueue(payload);
  });
  const consumers = [late, mails.consumer(({ payload }) => void sent.push(payload))];
  await queue("orders").enqueue(1);
  await deployment({ consumers }, { ...platform, budget: "1s", wakeFetch }, { SLUICE_WAKE_SECRET }).cron();
  await expect.poll(() => woken, { timeout: 20_000 }).toContainEqual({ queue: "mails" });
  expect(sent).toEqual([]);
});

test("a delayed task that a handler enqueues sets the alarm of its queue, whose consumer is here", async () => {
  const later = orders.consumer(({ payload }, _, tools) =>
    tools.queue(mails).enqueue(payload, { delay: "2h" }),
  );
  await queue("orders").enqueue(1);
  const consumers = [later, mails.consumer(() => {})];
  await deployment({ consumers }, { ...platform, ...withAlarms }).cron();
  expect(alarms).toEqual([["wake", "mails", 2]]);
});

test("a handler gets the environment, and lets work continue until the invocation ends", async () => {
  const done: string[] = [];
  const consumer = orders.consumer((_task, given, tools) => {
    expect(tools.env).toBe(given);
    const work = pause(50).then(() => void done.push("after"));
    tools.waitUntil?.(work);
    done.push("handled");
  });
  await queue("orders").enqueue(1);
  await deployment({ consumers: [consumer] }, platform).cron();
  expect(done).toEqual(["handled", "after"]);
});

describe("the declared defaults of tasks", () => {
  test("count for a queue by its name, of a consumer and of `queues`", async () => {
    const { callAlone } = deployment(
      {
        consumers: [orders.consumer(() => {})],
        queues: [mails],
        fetch: async (_, its) => {
          await its.queue("orders").enqueue(1, { id: "a" });
          await its.queue("orders", { maxAttempts: 7 }).enqueue(1, { id: "b" });
          await its.queue("mails").enqueue(1, { id: "c" });
          return new Response();
        },
      },
      platform,
    );
    await callAlone();
    const tasks = await tasksOf("orders");
    expect(tasks.get("a")).toMatch(/;m=2;U=86400000\n/);
    expect(tasks.get("b")).toMatch(/;m=7;U=86400000\n/);
    expect((await tasksOf("mails")).get("c")).toMatch(/;l=60000\n/);
  });

  test("count for tasks over HTTP, unless the request sets them", async () => {
    const { callAlone } = deployment({ consumers: [orders.consumer(() => {})] }, platform);
    for (const task of [
      { payload: 1, id: "a" },
      { payload: 1, id: "b", maxAttempts: 9 },
    ])
      expect((await callAlone("/v1/queues/orders/tasks", task)).status).toBe(201);
    const tasks = await tasksOf("orders");
    expect(tasks.get("a")).toMatch(/;m=2;U=86400000\n/);
    expect(tasks.get("b")).toMatch(/;m=9;U=86400000\n/);
  });
});

describe("the own methods of declared queues in processes", () => {
  const own = defineQueue<number>("own");
  const process = { afterResponse: "any", waitUntil: () => {} } as const;
  const server = (name: string, seen: string[]) =>
    deployment({ consumers: [own.consumer(() => void seen.push(name))] }, process).service;

  test("are connected with the last server, and when it closes with the one before", async () => {
    const seen: string[] = [];
    const [first, second] = [server("first", seen), server("second", seen)];
    await own.enqueue(1);
    await vi.waitUntil(() => seen.length === 1, { timeout: 20_000 });
    await idle("own");
    second.close();
    second.close();
    await own.enqueue(2);
    await vi.waitUntil(() => seen.length === 2, { timeout: 20_000 });
    expect(seen).toEqual(["second", "first"]);
    await idle("own");
    first.close();
    await expect(own.enqueue(3)).rejects.toThrow("transport must be declared");
  });

  test("are not connected with a server that does not start", async () => {
    const broken = defineQueue("broken", {
      encryption: () => {
        throw new Error("no key");
      },
    });
    expect(() => deployment({ queues: [own, broken] }, process)).toThrow("no key");
    await expect(own.enqueue(3)).rejects.toThrow("transport must be declared");
  });
});
