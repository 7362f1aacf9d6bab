import { beforeEach, describe, expect, test } from "vitest";
import { listQueues, Queue, SluiceError, sweep, type Transport } from "../../src/index.ts";
import { many, numbered } from "../support/new-tasks.ts";
import { recorded } from "../support/recorded.ts";
import { key, useRig } from "../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const nothing = {
  promoted: 0,
  reclaimed: 0,
  rejected: 0,
  expired: 0,
  more: false,
  scheduled: 0,
  woken: 0,
  failed: [],
};
const run = (options: Parameters<typeof sweep>[1] = {}) =>
  sweep(rig.transport, { now: () => rig.now, ...options });

describe("one queue", () => {
  test("a limit for tasks, leases or records bounds each call, which replies more, and the sweep goes on", async () => {
    await queue.enqueueMany(many(25, { delay: 300_000 }));
    await queue.enqueueMany(many(25, { resultTtl: 0 }));
    const done = await queue.dequeue({ max: 25 });
    await queue.settle(done.map(({ receipt }) => ({ receipt, outcome: "complete" })));
    await queue.enqueueMany(many(25, { lease: 300_000 }));
    await queue.dequeue({ max: 25 });
    rig.now += 300_000;
    expect(await rig.sweepOnce(10)).toEqual(["ok", 10, 10, 0, 10, 1, 0, 0]);
    const rest = { promoted: 15, reclaimed: 15, expired: 15, more: false };
    expect(await run({ limit: 10 })).toMatchObject(rest);
  });

  test("timers that are due take no task's place in a call", async () => {
    for (let i = 0; i < 10; i++) {
      await rig.operator().configureGroup(`g${i}`, { rate: { most: 1, per: "1s" } });
      await queue.enqueueMany(many(2, { group: `g${i}` }));
    }
    expect(await queue.dequeue({ max: 50, lease: "1h" })).toHaveLength(10);
    await queue.enqueueMany(many(10, { delay: 5_000 }));
    rig.now += 5_000;
    expect(await rig.sweepOnce(5)).toEqual(["ok", 5, 0, 0, 0, 1, 0, 0]);
  });

  test("due tasks of groups are all promoted, also if there are more than one plan takes", async () => {
    await queue.enqueueMany(numbered(400).map((task) => ({ ...task, group: "g", delay: 1_000 })));
    rig.now += 1_000;
    expect(await run()).toEqual({ ...nothing, queues: 1, promoted: 400 });
    const tasks = [...(await queue.dequeue({ max: 250 })), ...(await queue.dequeue({ max: 250 }))];
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(400);
  });

  test("a group's task written by a newer release is left as it is", async () => {
    await queue.enqueue(0, { id: "a", group: "g", delay: 1_000 });
    await rig.command("HSET", key("tasks"), ".a", "2;what=ever\n");
    rig.now += 1_000;
    await rig.sweepOnce();
    const { delayed, fair, tasks } = await rig.space();
    expect([...delayed]).toEqual([["a", rig.now + 60_000.5]]);
    expect([fair.size, tasks.get(".a")]).toEqual([0, "2;what=ever\n"]);
    await rig.command("HDEL", key("tasks"), ".a");
  });

  test("without a time budget left it takes one step, and replies more", async () => {
    for (let i = 0; i < 3; i++) await queue.enqueue(i, { delay: 1 });
    rig.now += 1;
    expect(await run({ budget: 0, limit: 1 })).toEqual({ queues: 1, ...nothing, promoted: 1, more: true });
    expect(await run()).toMatchObject({ promoted: 2, more: false });
  });

  test("20,000 due tasks are promoted in order, in bounded calls", async () => {
    for (let i = 0; i < 20_000; i += 1_000) {
      await queue.enqueueMany(
        many(1_000, { delay: 1_000 }).map((task) => ({ ...task, payload: i + task.payload })),
      );
    }
    rig.now += 1_000;
    const { transport, requests } = recorded(rig);
    const report = await sweep(transport, { now: () => rig.now, budget: "10m" });
    expect(report).toEqual({ queues: 1, ...nothing, promoted: 20_000 });
    expect(requests.length).toBeLessThanOrEqual(23);
    for (const first of [0, 1_000]) {
      const tasks = await queue.dequeue({ max: 1_000 });
      expect(tasks.map(({ payload }) => payload)).toEqual(Array.from({ length: 1_000 }, (_, i) => first + i));
    }
  });

  test("5,000 expired leases all come back, each once, and no live lease with them", async () => {
    const tasks = numbered(6_000);
    for (let i = 0; i < 6_000; i += 1_000) {
      await queue.enqueueMany(tasks.slice(i, i + 1_000));
      await queue.dequeue({ max: 1_000, lease: i < 5_000 ? 1_000 : 1_001 });
    }
    rig.now += 1_000;
    expect(await run()).toEqual({ queues: 1, ...nothing, reclaimed: 5_000 });
    const { pending, working } = await rig.space();
    expect(new Set(pending)).toEqual(new Set(tasks.slice(0, 5_000).map(({ id }) => id)));
    expect([pending.length, working.size]).toEqual([5_000, 1_000]);
  });

  test("two sweeps at once share the work and count it once", async () => {
    for (let i = 0; i < 5; i++) {
      await queue.enqueueMany(many(1_000, { delay: 1 }));
    }
    rig.now += 1;
    const reports = await Promise.all([run({ limit: 100 }), run({ limit: 100 }), run({ limit: 100 })]);
    expect(reports.reduce((sum, { promoted }) => sum + promoted, 0)).toBe(5_000);
    expect(new Set((await rig.space()).pending).size).toBe(5_000);
  });
});

describe("every registered queue", () => {
  const queueOf = (name: string) => new Queue(name, { transport: rig.transport, now: () => rig.now });

  test("is swept, also if there are more than fit one request", async () => {
    const names = Array.from({ length: 130 }, (_, i) => `q${i}`);
    for (const name of names) await queueOf(name).enqueue(0, { delay: 10 });
    rig.now += 10;
    expect(await run()).toEqual({ queues: 130, ...nothing, promoted: 130 });
  });

  test("a broken queue does not keep the others from being swept", async () => {
    await queueOf("valid").enqueue(0, { delay: 10 });
    await queueOf("broken").enqueue(0);
    await rig.command("SET", "sluice:{broken}:delayed", "not a zset");
    rig.now += 10;
    const failed = [{ queue: "broken", code: "redis_error" }];
    expect(await run()).toEqual({ queues: 2, ...nothing, promoted: 1, failed });
  });

  test("a queue written by a newer release is left as it is", async () => {
    await queueOf("old").enqueue(0, { delay: 10 });
    const newer = queueOf("new");
    await newer.enqueue(0, { id: "a" });
    await newer.dequeue({ lease: 5 });
    await rig.command("HSET", "sluice:{new}:tasks", ".a", "2;what=ever\n");
    rig.now += 10;
    expect(await run()).toMatchObject({ promoted: 1, failed: [{ queue: "new", code: "newer_schema" }] });
  });

  test("is listed with its last use, in pages that together name all of them", async () => {
    const all = Array.from({ length: 300 }, (_, i) => ({
      name: `q${String(i).padStart(3, "0")}`,
      seenAt: i + 1,
    }));
    for (const { name, seenAt } of all) await rig.command("ZADD", "sluice:queues", String(seenAt), name);
    const found = new Map<string, unknown>();
    let cursor: string | undefined;
    do {
      const page = await listQueues(rig.transport, { cursor, size: 20, now: () => rig.now });
      expect(page.now).toBe(rig.now);
      for (const queue of page.queues) found.set(queue.name, queue);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(found.size).toBe(300);
    for (const queue of all) expect(found.get(queue.name)).toEqual(queue);
  });
});

test("throws if Redis can no longer be reached; if there are other nodes, it reports the queues of this one", async () => {
  await queue.enqueue(1);
  const error = new SluiceError("redis_unreachable", "gone");
  const send: Transport["send"] = async (commands, options) => {
    if (commands.some((command) => "script" in command && command.script.name === "sweep")) throw error;
    return rig.transport.send(commands, options);
  };
  await expect(sweep({ send }, { now: () => rig.now })).rejects.toBe(error);
  expect(await sweep({ send, cluster: true }, { now: () => rig.now })).toEqual({
    ...nothing,
    queues: 1,
    failed: [{ queue: queue.name, code: error.code }],
  });
});
