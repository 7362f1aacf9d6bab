import { beforeEach, describe, expect, test } from "vitest";
import { createClient } from "@redis/client";
import { type Queue, sweep, type Transport } from "../../../src/index.ts";
import { deliveries, groupSettings, ofGroup, timesOf } from "../../support/groups.ts";
import { roomFor } from "../../support/no-room.ts";
import { key, useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

describe("groups do not harm each other", () => {
  test("a limited group's due timer is followed, also behind many other tasks", async () => {
    await rig.operator().configureGroup("slow", { rate: { most: 1, per: "1s" } });
    await queue.enqueueMany(ofGroup("slow", 30));
    await queue.enqueueMany(ofGroup(undefined, 300));
    let slow = 0;
    for (let second = 0; second < 20; second++) {
      const batch = await queue.dequeue({ max: 10 });
      slow += timesOf(
        batch.map(({ group }) => group ?? ""),
        "slow",
      );
      rig.now += 1_100;
    }
    // A tenth of a period counts until it has wholly passed.
    expect(slow).toBe(20);
  });

  test("a timer is set again if Redis had no room for the tasks it admitted", async () => {
    await rig.operator().configureGroup("slow", { rate: { most: 1, per: "1s" } });
    await queue.enqueueMany(ofGroup("slow", 3));
    await (await queue.dequeue())[0]?.complete();
    rig.now += 1_200;
    await sweep(roomFor(rig.transport, 0), { now: () => rig.now });
    const { delayed, limited, fair } = await rig.space();
    expect([...delayed]).toEqual([["~g:slow", rig.now + 60_000]]);
    expect([limited.size, fair.size]).toEqual([2, 0]);
    rig.now += 60_000;
    await rig.sweepOnce();
    expect(await queue.dequeue({ max: 5 })).toHaveLength(1);
  });

  test("a task that is due while Redis is full is tried again in a minute", async () => {
    await queue.enqueue(1, { id: "a", group: "g", delay: 1_000 });
    rig.now += 1_000;
    await sweep(roomFor(rig.transport, 0), { now: () => rig.now });
    const { delayed, fair } = await rig.space();
    // The half millisecond marks a task that belongs in `fair`.
    expect([[...delayed], fair.size]).toEqual([[["a", rig.now + 60_000.5]], 0]);
    rig.now += 60_001;
    expect((await queue.dequeue()).map(({ id }) => id)).toEqual(["a"]);
  });

  test("a limit without a group number, as after a failover, holds no task back", async () => {
    await groupSettings(rig)("g", "m=1");
    await queue.enqueueMany(ofGroup("g", 3));
    expect((await queue.dequeue({ max: 3 })).map(({ payload }) => payload)).toEqual([0, 1, 2]);
    expect((await rig.space()).limited.size).toBe(0);
  });

  test("the sweep replies more if more timers are due than one call handles", async () => {
    const names = Array.from({ length: 230 }, (_, i) => `g${i}`);
    for (const name of names) await rig.operator().configureGroup(name, { rate: { most: 1, per: "1s" } });
    for (const name of names) await queue.enqueueMany(ofGroup(name, 2));
    for (let batch = await queue.dequeue({ max: 200 }); batch.length > 0;)
      batch = await queue.dequeue({ max: 200 });
    rig.now += 1_200;
    let sweeps = 1;
    while (((await rig.sweepOnce()) as number[])[5] === 1) sweeps++;
    expect((await rig.space()).fair.size).toBe(230);
    expect(sweeps).toBeLessThan(5);
  });

  test("a task handed back after virtual time restarted gives no other group an advantage", async () => {
    await queue.enqueueMany(ofGroup("a", 100));
    const taken = await queue.dequeue({ max: 100 });
    await queue.dequeue();
    expect((await rig.space()).tasks.has("~fair")).toBe(false);
    await taken.at(-1)?.requeue({ unstarted: true });
    await queue.enqueueMany(ofGroup("a", 5));
    await queue.enqueueMany(ofGroup("b", 50));
    expect(timesOf(await deliveries(queue, 10), "a")).toBe(5);
  });

  test("ghosts in the list take no turns from tasks without a group", async () => {
    const cancelled = await queue.enqueueMany(ofGroup(undefined, 100));
    await queue.enqueueMany(ofGroup(undefined, 20));
    await queue.enqueueMany(ofGroup("a", 100));
    for (const { id } of cancelled) await queue.cancel(id);
    const order = await deliveries(queue, 20);
    expect(timesOf(order, "")).toBeGreaterThanOrEqual(9);
  });

  test("a task with a lost record does not block its group", async () => {
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    await queue.enqueue("lost", { group: "g", id: "lost" });
    await (await queue.dequeue())[0]?.requeue();
    await queue.enqueue("next", { group: "g", id: "next" });
    // The changing record still names the group of the entry in `fair`.
    await rig.command("HDEL", key("tasks"), "lost");
    expect(await queue.dequeue({ max: 5 })).toHaveLength(0);
    expect((await queue.dequeue({ max: 5 })).map(({ id }) => id)).toEqual(["next"]);
    expect(await queue.counts()).toMatchObject({ pending: 0, broken: 1 });
    await rig.command("HDEL", key("tasks"), ".lost");
  });

  test("every command stays within bounds with hundreds of groups in one call", async () => {
    for (let g = 0; g < 600; g++) await groupSettings(rig)(`g${g}`, `n=${g + 1};r=1/60000`);
    const largest = await largestCommand(async () => {
      await queue.enqueueMany(Array.from({ length: 600 }, (_, g) => ({ payload: g, group: `g${g}` })));
      const taken = [];
      for (let batch = await queue.dequeue({ max: 1_000 }); batch.length > 0;) {
        taken.push(...batch);
        batch = await queue.dequeue({ max: 1_000 });
      }
      expect(taken).toHaveLength(600);
      const handedBack = { outcome: "requeue", unstarted: true } as const;
      await queue.settle(taken.map(({ receipt }) => ({ receipt, ...handedBack })));
      expect(await queue.dequeue({ max: 1_000 })).toHaveLength(0);
      rig.now += 67_000;
      let delivered = 0;
      for (let round = 0; round < 40 && delivered < 600; round++)
        delivered += (await queue.dequeue({ max: 1_000 })).length;
      expect(delivered).toBe(600);
    });
    expect(largest).toBeGreaterThan(100);
    // The command's name and its key come before a thousand arguments.
    expect(largest).toBeLessThanOrEqual(2 + 1_000);
  });

  test("hundreds of groups at their limits are held in bounded calls, and block no other group", async () => {
    const names = Array.from({ length: 600 }, (_, g) => `g${g}`);
    const enqueue = () => queue.enqueueMany(names.map((group) => ({ payload: 0, group })));
    await enqueue();
    for (let taken = 0; taken < 600;) taken += (await queue.dequeue({ max: 1_000 })).length;
    await enqueue();
    await queue.enqueue("free", { group: "free" });
    for (const [g, name] of names.entries()) await groupSettings(rig)(name, `n=${g + 1};m=1`);
    const held: number[] = [];
    const watching: Transport = {
      async send(commands, options) {
        const outcomes = await rig.transport.send(commands, options);
        held.push((await rig.space()).limited.size);
        return outcomes;
      },
    };
    const [free, ...others] = await rig.queue({ transport: watching }).dequeue({ max: 1_000 });
    expect([free?.group, others]).toEqual(["free", []]);
    expect(held).toEqual([200, 400, 600, 600]);
  });
});

/** The number of words in the largest command that scripts send during `run`. */
async function largestCommand(run: () => Promise<unknown>): Promise<number> {
  const client = createClient({ url: rig.redis.url, RESP: 2 });
  await client.connect();
  let largest = 0;
  let seen = () => {};
  const end = new Promise<void>((resolve) => (seen = resolve));
  await client.monitor((line) => {
    if (line.endsWith('"ECHO" "the end"')) seen();
    if (line.includes(" lua] ")) largest = Math.max(largest, line.match(/"(?:[^"\\]|\\.)*"/g)?.length ?? 0);
  });
  try {
    await run();
    await rig.command("ECHO", "the end");
    await end;
  } finally {
    client.destroy();
  }
  return largest;
}
