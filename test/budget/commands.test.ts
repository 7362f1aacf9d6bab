import { beforeEach, describe, expect, test } from "vitest";
import { Redis } from "@upstash/redis";
import { Queue, sweep } from "../../src/index.ts";
import type { Gateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { useBilled } from "../support/billed.ts";

// DESIGN's budgets in commands as Upstash bills them. Counts are exact, so these are equalities:
// A change of a script that changes its cost fails here, and changes docs/costs.md too.

const billed = useBilled(async ({ queue }) => {
  const first = await queue.enqueue("warm", { resultTtl: 0 });
  const [task] = await queue.dequeue();
  await task?.extend();
  await task?.requeue();
  const [again] = await queue.dequeue();
  await again?.complete();
  await queue.settleAndDequeue([{ receipt: again?.receipt ?? "", outcome: "complete" }]);
  await queue.get(first.id);
  await queue.counts();
  await queue.cancel(first.id);
  await sweep(queue["transport"]);
});
const { cost } = billed;
let gateway: Gateway;
let queue: Queue;
beforeEach(() => {
  ({ gateway, queue } = billed);
});

describe("a single task", () => {
  test("costs 4 to enqueue, 6 to dequeue, 6 to complete: 16", async () => {
    const costs = {
      enqueue: await cost(() => queue.enqueue({ to: "a@example.com" }, { resultTtl: 0 })),
      dequeue: 0,
      complete: 0,
    };
    let [task]: Awaited<ReturnType<typeof queue.dequeue>> = [] as never;
    costs.dequeue = await cost(async () => ([task] = await queue.dequeue({ max: 1 })));
    costs.complete = await cost(async () => task?.complete());
    expect(costs).toEqual({ enqueue: 4, dequeue: 6, complete: 6 });
  });

  test("costs 10 to settle otherwise and dequeue the next, or to complete a retried one", async () => {
    for (let i = 0; i < 2; i++) await queue.enqueue(i, { resultTtl: 0 });
    let [task] = await queue.dequeue({ max: 1 });
    const next = async (settlement: { outcome: "requeue" } | { outcome: "complete"; ttl?: number }) => {
      const options = [{ receipt: task?.receipt ?? "", ...settlement }];
      [task] = (await queue.settleAndDequeue(options, { max: 1 })).tasks;
    };
    expect(await cost(() => next({ outcome: "requeue" }))).toBe(10);
    expect(await cost(() => next({ outcome: "complete", ttl: 1_000 }))).toBe(10);
    await queue.enqueue(2);
    expect(task).toMatchObject({ payload: 0, attempt: 2 });
    expect(await cost(() => next({ outcome: "complete" }))).toBe(10);
  });

  test("costs 12 in a loop: 4 to enqueue, 8 to complete and dequeue the next", async () => {
    for (let i = 0; i < 3; i++) await queue.enqueue(i, { resultTtl: 0 });
    let [task] = await queue.dequeue({ max: 1 });
    const next = async () => {
      const settlement = { receipt: task?.receipt ?? "", outcome: "complete" } as const;
      [task] = (await queue.settleAndDequeue([settlement], { max: 1 })).tasks;
    };
    expect(await cost(next)).toBe(8);
    expect(task?.payload).toBe(1);
    expect(await cost(next)).toBe(8);
  });

  test("costs no more with a kept result, a caller's id, headers, and its own options", async () => {
    const total = await cost(async () => {
      await queue.enqueue(1, { id: "mine", lease: "1m", maxAttempts: 3, headers: { a: "b" } });
      const [task] = await queue.dequeue();
      await task?.complete({ kept: true });
    });
    expect(total).toBe(16);
  });

  test("costs 4 with a delay, 6 to requeue or reject, 5 to extend", async () => {
    expect(await cost(() => queue.enqueue(1, { delay: "1h" }))).toBe(4);
    await queue.enqueueMany([{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    const [a, b, c] = await queue.dequeue({ max: 3 });
    expect(await cost(async () => a?.extend())).toBe(5);
    expect(await cost(async () => a?.requeue())).toBe(6);
    expect(await cost(async () => b?.requeue({ delay: "1h" }))).toBe(6);
    expect(await cost(async () => c?.reject("no"))).toBe(7);
  });

  test("costs 6 to cancel, 7 while delayed, 3 to get", async () => {
    const { id } = await queue.enqueue(1, { delay: "1h" });
    expect(await cost(() => queue.get(id))).toBe(3);
    expect(await cost(() => queue.cancel(id))).toBe(7);
    const pending = await queue.enqueue(1);
    expect(await cost(() => queue.cancel(pending.id))).toBe(6);
  });
});

describe("batches of 100", () => {
  test("cost at most 0.2 commands and 0.03 requests a task", async () => {
    await cost(async () => {
      await queue.enqueueMany(Array.from({ length: 100 }, (_, i) => ({ payload: { i } })));
      const batch = await queue.dequeue({ max: 100 });
      await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete", result: 1 })));
    });
    const { commands, requests } = gateway.usage();
    expect({ commands, requests }).toEqual({ commands: 18, requests: 3 });
  });
});

describe("idle", () => {
  test("a dequeue of an empty queue costs 5; 6 with a caller's token, which it has to remember", async () => {
    expect(await cost(() => queue.dequeue({ max: 10 }))).toBe(5);
    expect(await cost(() => queue.dequeue({ max: 10, token: "token-01" }))).toBe(6);
  });

  test("a sweep that finds nothing costs 5 a queue, and 3 for the list of queues", async () => {
    await queue.enqueue(1, { delay: "1h" });
    expect(await cost(() => sweep(queue["transport"]))).toBe(3 + 5);
  });

  test("a sweep costs 1 for a queue that has been empty and unused for ten minutes", async () => {
    const client = new Redis({ url: gateway.url, token: gateway.token });
    await client.del(`sluice:{${queue.name}}:expiry`);
    await client.zadd("sluice:queues", { score: Date.now() - 11 * 60_000, member: queue.name });
    expect(await cost(() => sweep(queue["transport"]))).toBe(3 + 1);
  });

  test("registering a queue and reading its settings cost 4, once a minute per instance, also with a new transport in each request", async () => {
    const instance = () =>
      new Queue("fresh", { transport: upstash({ url: gateway.url, token: gateway.token }) });
    expect(await cost(() => instance().enqueue(1))).toBe(4 + 4);
    expect(await cost(() => instance().enqueue(1))).toBe(4);
  });
});
