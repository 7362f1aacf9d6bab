import { describe, expect, test } from "vitest";
import * as v from "valibot";
import type { Transport } from "../../../src/index.ts";
import { named, numbered } from "../../support/new-tasks.ts";
import { aborted, recorded, times } from "../../support/recorded.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();

const ids = (batches: readonly (readonly { readonly id: string }[])[]) =>
  batches.map(([task, ...others]) => [task?.id ?? null, ...others.map(({ id }) => id)].join());

describe("dequeues of one task each", () => {
  test("are one request, answered in the order of the calls", async () => {
    const { queue, scripts } = recorded(rig);
    await queue.enqueueMany([...numbered(3), { payload: "later", delay: "1m" }]);
    const batches = await times(5, () => queue.dequeue());
    expect(ids(batches)).toEqual(["t0", "t1", "t2", "", ""]);
    expect(batches.map(({ nextDueAt }) => nextDueAt)).toEqual(Array(5).fill(START + 60_000));
    expect(scripts().slice(1)).toEqual([["dequeue"]]);
    const settled = await Promise.all(batches.flat().map((task) => task.complete()));
    expect(settled.map(({ ok }) => ok)).toEqual([true, true, true]);
  });

  test("share a request only with equal options", async () => {
    const { queue, scripts } = recorded(rig);
    await queue.enqueueMany(numbered(12));
    const worker = { name: "w", incarnation: "1" };
    const asked = await Promise.all([
      queue.dequeue(),
      queue.dequeue({ lease: "1m" }),
      queue.dequeue({ worker }),
      queue.dequeue({ worker: { name: "w" } }),
      queue.dequeue({ maxBytes: 1_000 }),
      queue.dequeue({ token: "token-01" }),
      queue.dequeue({ idempotencyKey: "key" }),
      queue.dequeue({ wait: 10 }),
      queue.dequeue({ max: 2 }),
      queue.dequeue({ max: 1, lease: "5m", maxBytes: 8_000_000 }),
      queue.dequeue({ worker }),
    ]);
    expect(asked.flat()).toHaveLength(12);
    expect(scripts().slice(1)).toHaveLength(9);
    const { workers } = await rig.operator().workers();
    const leases = workers.map(({ name, incarnation, tasks }) => [name, incarnation, tasks?.length]);
    expect(new Set(leases)).toEqual(
      new Set([
        ["w", "1", 2],
        ["w", undefined, 1],
      ]),
    );
  });

  test("each get a task, also if maxBytes ends a batch", async () => {
    const { queue } = recorded(rig);
    await queue.enqueueMany(numbered(3));
    expect(ids(await times(4, () => queue.dequeue({ maxBytes: 1 })))).toEqual(["t0", "t1", "t2", ""]);
  });

  test("each get a task beside one whose leases expired (law 11)", async () => {
    const { queue } = recorded(rig);
    await queue.enqueueMany(numbered(1));
    for (let i = 0; i < 2; i++) {
      await queue.dequeue({ lease: 1_000 });
      rig.now += 1_000;
    }
    await queue.enqueueMany(named(["a", "b"]));
    expect(ids(await times(4, () => queue.dequeue()))).toEqual(["t0", "a", "b", ""]);
  });

  test("reject a payload that does not fit the schema, and get the next task", async () => {
    await rig.queue().enqueueMany([1, "a", "b", "c"].map((payload, i) => ({ id: `t${i}`, payload })));
    const { queue } = recorded<string>(rig, { schema: v.string() });
    const batches = await times(3, () => queue.dequeue());
    expect(ids(batches)).toEqual(["t3", "t1", "t2"]);
    expect(batches.map(({ invalid }) => invalid)).toEqual([1, 0, 0]);
    expect(await queue.get("t0")).toMatchObject({ state: "rejected" });
  });

  test("give the task of an aborted call to a call without a task", async () => {
    const controller = new AbortController();
    const { queue, scripts } = recorded(rig, {}, () => controller.abort());
    await rig.queue().enqueueMany(numbered(2));
    const asked = [queue.dequeue({ signal: controller.signal }), queue.dequeue(), queue.dequeue()];
    const [left, ...others] = await Promise.allSettled(asked);
    expect(left).toMatchObject(aborted);
    expect(others.map((end) => end.status === "fulfilled" && ids([end.value]))).toEqual([["t0"], ["t1"]]);
    expect(scripts()).toEqual([["dequeue"]]);
  });

  test("hand the task of an aborted call back to the front, unstarted, if all others have one", async () => {
    const controller = new AbortController();
    const { queue } = recorded(rig, {}, () => controller.abort());
    await rig.queue().enqueueMany(numbered(4));
    const { signal } = controller;
    const asked = [queue.dequeue({ signal }), queue.dequeue(), queue.dequeue({ signal })];
    const [one, two, three] = await Promise.allSettled(asked);
    expect([one, three]).toMatchObject([aborted, aborted]);
    expect(two?.status === "fulfilled" && ids([two.value])).toEqual(["t0"]);
    await expect.poll(async () => (await rig.queue().counts()).pending).toBe(3);
    expect(await rig.queue().get("t1")).toMatchObject({ state: "pending", attempt: 1, charged: 0 });
    expect((await rig.queue().dequeue({ max: 9 })).map(({ id }) => id)).toEqual(["t1", "t2", "t3"]);
  });

  test("dequeue again if the answer to a resend does not report whether there are more", async () => {
    const { transport, scripts } = recorded(rig);
    await rig.queue().enqueueMany(numbered(1));
    const resending: Transport = {
      async send(commands, options) {
        await rig.transport.send(commands, options);
        return transport.send(commands, options);
      },
    };
    const asked = rig.queue({ transport: resending });
    expect(ids(await times(2, () => asked.dequeue()))).toEqual(["t0", ""]);
    expect(scripts()).toEqual([["dequeue"], ["dequeue"]]);
  });
});
