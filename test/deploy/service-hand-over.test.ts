import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Platform, ServiceOptions } from "../../src/deploy/service.ts";
import { defineQueue, type Duration, type NewTask, type Task } from "../../src/index.ts";
import { offload } from "../../src/features/offload/offload.ts";
import { memoryStore } from "../../src/testing/memory-store.ts";
import { encrypting } from "../support/encrypting.ts";
import { useRig } from "../support/rig.ts";
import { SLUICE_WAKE_SECRET, useDeployments, wakeBinding } from "./deployments.ts";
import { noneLeft, useHandOvers } from "./hand-overs.ts";

// An enqueue in a deployment leases lone tasks for the consumer that it would wake.
const rig = useRig();
const its = useDeployments(rig);
const { called, deployment, wereHandedOver } = useHandOvers(rig, its);

test("a lone task costs two requests, and no dequeue", async () => {
  const done: unknown[] = [];
  await deployment({ emails: ({ payload }) => void done.push(payload) }).request();
  expect([done, called]).toEqual([[1], ["enqueueAndLease", "settleAndDequeue"]]);
  expect(await its.queue().counts()).toMatchObject(noneLeft);
  // The consumer has ended: the next task is a lone one again.
  await deployment({ emails: ({ payload }) => void done.push(payload) }).request();
  expect([done, called.length]).toEqual([[1, 1], 4]);
});

test("a lone task wakes no further consumer, also of one that takes tasks one by one", async () => {
  const { woken, wakeFetch } = wakeBinding();
  const done: unknown[] = [];
  const emails = { handler: ({ payload }: Task<never>) => void done.push(payload), batch: 1 };
  await deployment({ emails }, undefined, { platform: { wakeFetch } }, { SLUICE_WAKE_SECRET }).request();
  expect([done, called, woken]).toEqual([[1], ["enqueueAndLease", "settleAndDequeue"], []]);
});

describe("a handler gets the same task as from a dequeue", () => {
  const schema = z.object({ to: z.string(), times: z.number().default(3) });
  const everything = {
    headers: { from: "edge", ü: "ä" },
    lease: "1m",
    maxAttempts: 2,
    resultTtl: "2h",
    deadTtl: "3d",
  } as const;

  interface Consumer {
    readonly schema?: z.ZodType;
    readonly encryption?: () => ReturnType<typeof encrypting>;
    readonly lease?: Duration;
    readonly offload?: () => ReturnType<typeof offload>;
  }

  test.each<[string, readonly NewTask<unknown>[], Consumer?]>([
    ["with JSON", [{ payload: { to: "ü\u0000\u2028😀", deep: [null, 1e21, ""] } }]],
    ["with bytes", [{ payload: new Uint8Array([0, 255, 10]) }]],
    ["with an empty payload", [{ payload: "" }]],
    ["with null", [{ payload: null }]],
    ["with half a surrogate pair", [{ payload: "\ud800" }]],
    ["with a megabyte", [{ payload: "x".repeat(1_000_000) }]],
    ["with every option", [{ payload: 1, ...everything }]],
    ["among others", [{ payload: 1, ...everything }, { payload: 2 }, { payload: 3, lease: "2m" }]],
    ["of a consumer with a schema that changes it", [{ payload: { to: "a" } }], { schema }],
    ["of a consumer with an encryption", [{ payload: { to: "a" } }], { encryption: () => encrypting() }],
    ["of a consumer with a lease", [{ payload: 1 }], { lease: "7s" }],
    [
      "of a consumer with an offload",
      [{ payload: "x".repeat(2_000) }],
      { offload: () => offload({ store: memoryStore(), over: 1_000 }) },
    ],
  ])("%s", async (_, tasks, consumer = {}) => {
    const seen: Record<string, unknown>[] = [];
    const handler = async ({ id, receipt, payload, attempt, enqueuedAt, headers, group }: Task<never>) => {
      const deadline = await rig.command("ZSCORE", "sluice:{emails}:working", id);
      const lease = receipt.split(".").slice(0, 3);
      seen.push({ lease, payload, attempt, enqueuedAt, headers, group, deadline });
    };
    const { offload: large, ...ofConsumer } = consumer;
    const consumers = { emails: { handler, ...ofConsumer } };
    const { request } = deployment(consumers, tasks, { offload: large });
    await request();
    expect(wereHandedOver()).toBe(true);
    const handed = seen.splice(0);
    const records = await recordsOf();

    await rig.command("FLUSHALL");
    // A process without a consumer enqueues, and another one dequeues.
    const { service, ring } = deployment(consumers, [], { offload: large });
    await service.open("emails").queue().enqueueMany(tasks);
    await ring("wake");
    expect(handed).toEqual(seen);
    expect(handed).toHaveLength(tasks.length);
    expect(records).toEqual(await recordsOf());
  });

  /** What is left of the tasks, without their ids and tokens. */
  async function recordsOf() {
    const { tasks } = await rig.space();
    return [...tasks]
      .filter(([field]) => field.startsWith("."))
      .map(([, record]) => record.replace(/;p=\d+,[^,]+/, ";p="))
      .toSorted();
  }
});

describe("it is leased", () => {
  const done: unknown[] = [];
  const consumers = { emails: ({ payload }: Task<never>) => void done.push(payload) };
  beforeEach(() => void done.splice(0));

  test("by the HTTP interface of the deployment", async () => {
    const { request } = deployment(consumers, [], { fetch: undefined });
    expect((await request("/v1/queues/emails/tasks", { payload: "one" })).status).toBe(201);
    expect([done, called]).toEqual([["one"], ["enqueueAndLease", "settleAndDequeue"]]);
    const tasks = [{ payload: "two" }, { payload: "three", headers: { a: "b" } }];
    expect((await request("/v1/queues/emails/tasks", { tasks })).status).toBe(201);
    expect([done, called.slice(2)]).toEqual([
      ["one", "two", "three"],
      ["enqueueAndLease", "settleAndDequeue"],
    ]);
  });

  test("by calls that share a request, together", async () => {
    const fetch: ServiceOptions["fetch"] = async (_, { queue }) => {
      const emails = queue("emails");
      return Response.json(await Promise.all([1, 2, 3].map((payload) => emails.enqueue(payload))));
    };
    await deployment(consumers, [], { fetch }).request();
    expect([done, called]).toEqual([
      [1, 2, 3],
      ["enqueueAndLease", "settleAndDequeue"],
    ]);
  });

  test("with an id of its own, once: a known one changes nothing, and keeps no other task from being leased", async () => {
    const tasks: NewTask<unknown>[] = [{ payload: 1, id: "mine" }];
    const { request } = deployment(consumers, tasks);
    expect(await (await request()).json()).toEqual([{ id: "mine", created: true }]);
    const leased = ["enqueueAndLease", "settleAndDequeue"];
    expect([done, called.splice(0)]).toEqual([[1], leased]);
    const before = await rig.keySpace();
    expect(await (await request()).json()).toEqual([{ id: "mine", created: false }]);
    expect([done, called.splice(0)]).toEqual([[1], ["enqueueAndLease", "enqueue"]]);
    expect(await rig.keySpace()).toEqual(before);
    tasks[0] = { payload: 2, id: "another" };
    await request();
    expect([done, called]).toEqual([[1, 2], leased]);
  });

  test("with an idempotency key, once", async () => {
    const fetch: ServiceOptions["fetch"] = async (_, { queue }) =>
      Response.json(await queue("emails").enqueue(1, { idempotencyKey: "k" }));
    const { request } = deployment(consumers, [], { fetch });
    const first = (await (await request()).json()) as object;
    expect(await (await request()).json()).toEqual(first);
    expect([first, done]).toEqual([{ id: expect.any(String), created: true }, [1]]);
  });

  test("by a declared queue", async () => {
    const emails = defineQueue<number>("emails", { lease: "1m", maxAttempts: 4 });
    const consumer = emails.consumer((task) => void done.push(task.payload));
    const fetch: ServiceOptions["fetch"] = async (_, { queue }) =>
      Response.json(await queue(emails).enqueue(5));
    await deployment([consumer], [], { fetch, queues: [emails] }).request();
    expect([done, wereHandedOver()]).toEqual([[5], true]);
  });

  test("by a handler, for the consumer of another queue in the same invocation", async () => {
    const chained: ServiceOptions["consumers"] = {
      emails: async ({ payload }, _, { queue }) => void (await queue("sent").enqueue(payload)),
      sent: ({ payload }) => void done.push(payload),
    };
    await deployment(chained).request();
    expect([done, called.filter((script) => script === "enqueueAndLease").length]).toEqual([[1], 2]);
    expect(called).not.toContain("dequeue");
  });

  test("by a handler for its own queue, or by others meanwhile, not: the running drain finds it", async () => {
    const own: ServiceOptions["consumers"] = {
      emails: async ({ payload }, _, { queue }) => {
        done.push(payload);
        if (Number(payload) < 3) await queue("emails").enqueue(Number(payload) + 1);
      },
    };
    await deployment(own).request();
    expect([done, called.filter((script) => script === "enqueueAndLease").length]).toEqual([[1, 2, 3], 1]);
    expect(await its.queue().counts()).toMatchObject(noneLeft);
  });
});

describe("it is not leased, and its consumer is woken,", () => {
  const done: unknown[] = [];
  beforeEach(() => void done.splice(0));
  const handler = ({ payload }: Task<never>) => void done.push(payload);
  const many = (count: number) => Array.from({ length: count }, (_, payload) => ({ payload }));

  test.each<[string, object, readonly NewTask<unknown>[], Partial<Platform>?]>([
    ["if there are more tasks than handlers", { concurrency: 2 }, many(3)],
    ["if there are more tasks than in a batch", { batch: 2 }, many(3)],
    ["if there are more tasks than the script takes", { concurrency: 90 }, many(33)],
    ["if its consumer has a worker", { worker: { name: "w" } }, many(1)],
    ["if the platform's drains have a worker", {}, many(1), { drains: { worker: { name: "w" } } }],
    ["if too few requests are left", { requestsPerTask: 9 }, many(5), { requests: 50 }],
    ["if it has a group", {}, [{ payload: 0, group: "a" }]],
    ["if it has a dedup key", {}, [{ payload: 0, dedup: { key: "k", window: "1m" } }]],
  ])("%s", async (_, consumer, tasks, platform) => {
    const { request, cron } = deployment({ emails: { handler, ...consumer } }, tasks, { platform });
    await request();
    expect(called.slice(called.indexOf("enqueueAndLease") + 1)).toContain("dequeue");
    // For what needs more requests than the invocation had, a minute later.
    await rig.command("HDEL", "sluice:{emails}:tasks", "~wake");
    await cron();
    expect(done.toSorted((a, b) => Number(a) - Number(b))).toEqual(tasks.map(({ payload }) => payload));
  });

  test("if the queue is paused, and then by none", async () => {
    await rig.operator().pause();
    const { request } = deployment({ emails: handler });
    await request();
    expect([done, await its.queue().counts()]).toMatchObject([[], { pending: 1, working: 0 }]);
    await rig.operator().resume();
    await request();
    expect(done).toEqual([1, 1]);
  });

  test("if too little time is left in the invocation", async () => {
    const chained: ServiceOptions["consumers"] = {
      async emails({ payload }, _, { queue }) {
        await new Promise((resolve) => setTimeout(resolve, 950));
        await queue("sent").enqueue(payload);
      },
      sent: handler,
    };
    await deployment(chained, undefined, { platform: { budget: "1900ms" } }).request();
    expect(called.filter((script) => script === "enqueueAndLease")).toHaveLength(1);
    expect(done).toEqual([1]);
  });

  test("if the queue has partitions", async () => {
    const emails = defineQueue<number>("emails", { partitions: 3 });
    const consumer = emails.consumer((task) => void done.push(task.payload));
    const fetch: ServiceOptions["fetch"] = async (_, { queue }) =>
      Response.json(await queue(emails).enqueue(5));
    const { request } = deployment([consumer], [], { fetch, queues: [emails] });
    await request();
    expect([done, called.includes("enqueueAndLease")]).toEqual([[5], false]);
  });
});
