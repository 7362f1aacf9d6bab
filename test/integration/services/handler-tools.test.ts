import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { AlarmKind } from "../../../serverless/deployment/alarms.ts";
import {
  type DeploymentTools,
  type Platform,
  Service,
  type ServiceOptions,
} from "../../../serverless/deployment/service.ts";
import type { Environment } from "../../../src/environment.ts";
import { defineQueue, Queue } from "../../../src/index.ts";
import { queueSpace } from "../../support/key-space.ts";
import { useRig } from "../../support/rig.ts";

// What handlers do with the tools of their deployment, in real time.
const rig = useRig();
const env: Environment = {
  UPSTASH_REDIS_REST_URL: "https://redis.test",
  UPSTASH_REDIS_REST_TOKEN: "t",
  SLUICE_TOKENS: JSON.stringify([{ token: "a-token-of-a-producer", scopes: ["enqueue"], queues: "*" }]),
};
const orders = defineQueue<number>("orders", { maxAttempts: 2, unique: "1d" });
const mails = defineQueue<number>("mails", { lease: "1m" });

beforeEach(() => void vi.spyOn(console, "log").mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

function deployment(options: ServiceOptions, platform: Partial<Platform> = {}): Service {
  const around = { transport: () => rig.transport, budget: "20s", afterResponse: "none" } as const;
  return new Service(env, options, { ...around, ...platform });
}

const queue = (name: string) => new Queue(name, { transport: rig.transport });
const idle = (name: string) =>
  expect.poll(() => queue(name).counts()).toMatchObject({ pending: 0, delayed: 0, working: 0 });
const tasksOf = async (name: string) => queueSpace(await rig.keySpace(), name).tasks;

/** Makes Redis forget that a consumer is awake, as after five seconds. */
const longSince = (name: string) => rig.command("HDEL", `sluice:{${name}}:tasks`, "~wake");

describe.each([
  ["an invocation", "none"],
  ["an invocation that may work after its response", "bounded"],
  ["a process", "any"],
] as const)("in %s", (_, afterResponse) => {
  test("the consumer of another queue works on what a handler enqueues, before the invocation ends", async () => {
    const sent: number[] = [];
    const service = deployment(
      {
        consumers: [
          orders.consumer(({ payload }, _, { queue }) => queue(mails).enqueue(payload)),
          mails.consumer(({ payload }) => void sent.push(payload)),
        ],
      },
      { afterResponse },
    );
    await queue("orders").enqueueMany([{ payload: 1 }, { payload: 2 }]);
    await service.cron();
    if (afterResponse === "any") await idle("mails");
    expect(new Set(sent)).toEqual(new Set([1, 2]));
    await idle("mails");
  });

  test("consumers that enqueue to each other's queue run one drain for each, within their concurrency", async () => {
    const seen: string[] = [];
    let [working, most] = [0, 0];
    const next =
      (name: string, other: typeof orders) =>
      async ({ payload }: { payload: number }, _: object, { queue }: DeploymentTools) => {
        most = Math.max(most, ++working);
        seen.push(`${name} ${payload}`);
        await longSince(other.name);
        if (payload < 6) await queue(other).enqueue(payload + 1);
        await sleep(20);
        working--;
      };
    const service = deployment(
      {
        consumers: [
          orders.consumer(next("orders", mails), { concurrency: 1 }),
          mails.consumer(next("mails", orders), { concurrency: 1 }),
        ],
      },
      { afterResponse },
    );
    await queue("orders").enqueue(1);
    await service.cron();
    if (afterResponse === "any") await vi.waitFor(() => expect(seen).toHaveLength(6));
    expect(seen).toEqual(["orders 1", "mails 2", "orders 3", "mails 4", "orders 5", "mails 6"]);
    expect(most).toBeLessThanOrEqual(2);
  });

  test("a task for its own queue is worked on by the same drain, within its concurrency", async () => {
    const seen: number[] = [];
    let [working, most] = [0, 0];
    const count = orders.consumer(
      async ({ payload }, _, { queue }) => {
        most = Math.max(most, ++working);
        seen.push(payload);
        await longSince("orders");
        if (payload < 4) await queue("orders").enqueue(payload + 1);
        await sleep(20);
        working--;
      },
      { concurrency: 1 },
    );
    await queue("orders").enqueue(1);
    await deployment({ consumers: [count] }, { afterResponse }).cron();
    expect([seen, most]).toEqual([[1, 2, 3, 4], 1]);
  });
});

test("consumers that cron has woken, and those that handlers wake, share one drain a queue", async () => {
  let [working, most] = [0, 0];
  const sent = mails.consumer(
    async () => {
      most = Math.max(most, ++working);
      await sleep(50);
      working--;
    },
    { concurrency: 1 },
  );
  const ordered = orders.consumer(async ({ payload }, _, { queue }) => {
    await sleep(20);
    await longSince("mails");
    await queue(mails).enqueue(payload);
  });
  await queue("orders").enqueue(1);
  await queue("mails").enqueue(2);
  await deployment({ consumers: [ordered, sent] }).cron();
  expect(most).toBe(1);
  await idle("mails");
});

test("a handler's enqueue just before the end of its invocation wakes a consumer elsewhere", async () => {
  const [woken, sent]: [unknown[], unknown[]] = [[], []];
  const wakeFetch = async (request: Request) => {
    woken.push(((await request.json()) as { data: unknown }).data);
    return new Response(null, { status: 202 });
  };
  const late = orders.consumer(async ({ payload, signal }, _, { queue }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await queue(mails).enqueue(payload);
  });
  const consumers = [late, mails.consumer(({ payload }) => void sent.push(payload))];
  await queue("orders").enqueue(1);
  const SLUICE_WAKE_SECRET = `whsec_${btoa("a secret of at least 24 bytes")}`;
  const around = { transport: () => rig.transport, budget: "1s", afterResponse: "none", wakeFetch } as const;
  await new Service<Environment>({ ...env, SLUICE_WAKE_SECRET }, { consumers }, around).cron();
  await expect.poll(() => woken).toContainEqual({ queue: "mails" });
  expect(sent).toEqual([]);
});

test("a delayed task that a handler enqueues sets the alarm of its queue, whose consumer is here", async () => {
  const set: [AlarmKind, string, number][] = [];
  const alarms = {
    set: (kind: AlarmKind, queue: string, after: number) =>
      void set.push([kind, queue, 10 * Math.round(after / 10_000)]),
  };
  const later = orders.consumer(({ payload }, _, { queue }) =>
    queue(mails).enqueue(payload, { delay: "10m" }),
  );
  const consumers = [later, mails.consumer(() => {})];
  const service = deployment({ consumers }, { alarms: () => alarms });
  await queue("orders").enqueue(1);
  await service.cron();
  expect(set).toEqual([["wake", "mails", 600]]);
});

test("a handler gets the environment, and lets work continue until the invocation ends", async () => {
  const done: string[] = [];
  const consumer = orders.consumer((_task, given, tools) => {
    expect(tools.env).toBe(given);
    const work = sleep(50).then(() => void done.push("after"));
    tools.waitUntil?.(work);
    done.push("handled");
  });
  await queue("orders").enqueue(1);
  await deployment({ consumers: [consumer] }).cron();
  expect(done).toEqual(["handled", "after"]);
});

describe("the declared defaults of tasks", () => {
  test("count for a queue by its name, of a consumer and of `queues`", async () => {
    const service = deployment({
      consumers: [orders.consumer(() => {})],
      queues: [mails],
      fetch: async (_, { queue }) => {
        await queue("orders").enqueue(1, { id: "a" });
        await queue("orders", { maxAttempts: 7 }).enqueue(1, { id: "b" });
        await queue("mails").enqueue(1, { id: "c" });
        return new Response();
      },
    });
    await service.fetch(new Request("https://sluice.test/"));
    const tasks = await tasksOf("orders");
    expect(tasks.get("a")).toMatch(/;m=2;U=86400000\n/);
    expect(tasks.get("b")).toMatch(/;m=7;U=86400000\n/);
    expect((await tasksOf("mails")).get("c")).toMatch(/;l=60000\n/);
  });

  test("count for tasks over HTTP, unless the request sets them", async () => {
    const service = deployment({ consumers: [orders.consumer(() => {})] });
    const enqueue = (task: object) =>
      service.fetch(
        new Request("https://sluice.test/v1/queues/orders/tasks", {
          method: "POST",
          headers: { authorization: "Bearer a-token-of-a-producer", "content-type": "application/json" },
          body: JSON.stringify(task),
        }),
      );
    expect((await enqueue({ payload: 1, id: "a" })).status).toBe(201);
    expect((await enqueue({ payload: 1, id: "b", maxAttempts: 9 })).status).toBe(201);
    const tasks = await tasksOf("orders");
    expect(tasks.get("a")).toMatch(/;m=2;U=86400000\n/);
    expect(tasks.get("b")).toMatch(/;m=9;U=86400000\n/);
  });
});

describe("the own methods of declared queues in processes", () => {
  const server = (name: string, seen: string[]) =>
    deployment(
      { consumers: [own.consumer(() => void seen.push(name))] },
      { afterResponse: "any", waitUntil: () => {} },
    );
  const own = defineQueue<number>("own");

  test("are connected with the last server, and when it closes with the one before", async () => {
    const seen: string[] = [];
    const [first, second] = [server("first", seen), server("second", seen)];
    await own.enqueue(1);
    await vi.waitFor(() => expect(seen).toEqual(["second"]));
    await idle("own");
    second.close();
    second.close();
    await own.enqueue(2);
    await vi.waitFor(() => expect(seen).toEqual(["second", "first"]));
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
    const options = { queues: [own, broken] };
    expect(() => deployment(options, { afterResponse: "any", waitUntil: () => {} })).toThrow("no key");
    await expect(own.enqueue(3)).rejects.toThrow("transport must be declared");
  });
});
