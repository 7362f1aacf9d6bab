import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Queue, sweep } from "../../src/index.ts";
import { numbered } from "../support/new-tasks.ts";
import { roomFor } from "../support/no-room.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const payload = "x".repeat(1_000);

async function held() {
  return rig.queue().dequeue({ max: 4, token: "token-01" });
}

describe("a full Redis refuses new tasks and lets the rest drain (laws 1 and 10)", () => {
  // A queue whose Redis has reached its memory limit.
  beforeEach(async () => {
    await queue.enqueueMany(numbered(50).map((task) => ({ ...task, payload })));
    await queue.enqueue(payload, { id: "due", delay: 1 });
    rig.now += 1;
    await queue.dequeue({ max: 4, token: "token-01" });
    await rig.command("CONFIG", "SET", "maxmemory", "1");
    await expect(rig.command("SET", "more", "data")).rejects.toThrow(/OOM/);
  });

  afterEach(() => rig.command("CONFIG", "SET", "maxmemory", "0"));

  test("enqueue throws queue_full and writes nothing", async () => {
    const before = await rig.keySpace();
    await expect(queue.enqueue(1)).rejects.toMatchObject({ code: "queue_full" });
    await expect(queue.enqueueMany([{ payload: 1 }, { payload: 2, delay: 5 }])).rejects.toMatchObject({
      code: "queue_full",
    });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("dequeue and complete empty the queue", async () => {
    await queue.settle((await held()).map(({ receipt }) => ({ receipt, outcome: "complete" })));
    let done = 4;
    for (let call = 0; call < 5; call++) {
      const batch = await queue.dequeue({ max: 10 });
      const settlements = batch.map(({ receipt }) => ({ receipt, outcome: "complete", result: 1 }) as const);
      done += (await queue.settle(settlements)).filter(({ ok }) => ok).length;
    }
    expect(done).toBe(51);
    expect(await queue.counts()).toMatchObject({ pending: 0, working: 0, delayed: 0 });
  });

  test("each outcome works alone, and a cancel is still reported to the holder", async () => {
    const [a, b, c, d] = await held();
    expect(await a?.extend("1h")).toMatchObject({ ok: true, state: "working" });
    expect(await b?.requeue({ delay: "1s" })).toMatchObject({ ok: true, state: "delayed" });
    expect(await c?.requeue()).toMatchObject({ ok: true, state: "pending" });
    expect(await d?.reject("no")).toMatchObject({ ok: true, state: "rejected" });
    expect(await queue.cancel(a?.id ?? "")).toEqual({ ok: true, state: "working" });
    expect(await a?.extend("2h")).toMatchObject({ ok: true, cancelRequested: true });
  });

  test("sweep promotes and reclaims", async () => {
    rig.now += 300_000;
    expect(await rig.sweepOnce()).toEqual(["ok", 1, 4, 0, 0, 0, 0, 0]);
  });

  test("ghosts of cancelled tasks outlive their tombstones", async () => {
    await rig.queue().cancel("t20");
    rig.now += 299_000;
    await rig
      .queue()
      .settle((await held()).map(({ receipt }) => ({ receipt, outcome: "extend", lease: "1d" })));
    rig.now += 1_000;
    await rig.command("ZREM", "sluice:{emails}:delayed", "due");
    await rig.command("HDEL", "sluice:{emails}:tasks", "due");
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 0, 0, 1, 0, 0, 0]);
  });

  test("cancel frees a task's payload", async () => {
    expect(await rig.queue().cancel("t20")).toEqual({ ok: true, state: "rejected" });
    expect(await rig.queue().cancel("due")).toEqual({ ok: true, state: "rejected" });
  });
});

describe("a Redis with room for only a part of what a call writes", () => {
  const short = (writes: number) => rig.queue({ transport: roomFor(rig.transport, writes) });

  test("keeps nothing of an enqueue with more records than one command takes", async () => {
    const refused = short(1).enqueueMany(numbered(1_000));
    await expect(refused).rejects.toMatchObject({ code: "queue_full" });
    expect(Object.keys(await rig.keySpace())).toEqual(["sluice:queues"]);
  });

  test("puts back what an enqueue replaced before it was refused", async () => {
    const again = numbered(600).map((task) => ({ ...task, again: true }));
    await rig.queue().enqueueMany(again);
    const tasks = await rig.queue().dequeue({ max: 600 });
    await rig.queue().settle(tasks.map(({ receipt }) => ({ receipt, outcome: "reject" })));
    const before = await rig.keySpace();
    await expect(short(1).enqueueMany(again)).rejects.toMatchObject({ code: "queue_full" });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("delivers a part of a batch, and the other tasks keep their order", async () => {
    await rig.queue().enqueueMany(numbered(1_000));
    const batch = await short(1).dequeue({ max: 1_000 });
    const rest = numbered(1_000).map(({ id }) => id);
    expect(batch.map(({ id }) => id)).toEqual(rest.splice(0, 490));
    const { pending, working } = await rig.space();
    // The next task is the last of the list.
    expect([pending.toReversed(), working.size]).toEqual([rest, 490]);
    expect((await rig.queue().dequeue({ max: 1_000 })).map(({ id }) => id)).toEqual(rest);
  });

  test("tries again in a minute to admit a group's task whose time has come", async () => {
    await rig.operator().configureGroup("g", { rate: { most: 1, per: "10s" } });
    await rig.queue().enqueueMany(numbered(2, { group: "g" }));
    await rig.queue().dequeue({ max: 2, lease: "1h" });
    // A rate counts in tenths of its period.
    rig.now += 11_000;
    await sweep(roomFor(rig.transport, 0), { now: () => rig.now });
    rig.now += 59_999;
    expect(await rig.queue().dequeue()).toHaveLength(0);
    rig.now += 1;
    expect((await rig.queue().dequeue()).map(({ id }) => id)).toEqual(["t1"]);
  });

  test("gives a holder a minute to send a refused settlement again", async () => {
    await rig.queue().enqueue(1, { id: "a" });
    const [task] = await rig.queue().dequeue({ lease: "10s" });
    const settlement = { receipt: task?.receipt ?? "", outcome: "complete" } as const;
    await expect(short(0).settle([settlement])).rejects.toMatchObject({ code: "queue_full" });
    expect([...(await rig.space()).working]).toEqual([["a", rig.now + 60_000]]);
    expect(await task?.complete()).toMatchObject({ ok: true, state: "completed" });
  });
});
