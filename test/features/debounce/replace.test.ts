import { expect, describe, test } from "vitest";
import { useRig } from "../../support/rig.ts";
import { useKeyed } from "./keyed-queue.ts";

const rig = useRig();
const { queue, begin, payloads } = useKeyed(rig);
const replace = { id: "report", replace: true } as const;

describe("replace", () => {
  test("creates a task whose id is free, and replaces payload and options of one that waits", async () => {
    expect(await queue().enqueue(1, { ...replace, maxAttempts: 2 })).toMatchObject({ outcome: "created" });
    await queue().enqueue("other");
    expect(await queue().enqueue(2, { ...replace, lease: "1m" })).toEqual({
      id: "report",
      created: false,
      outcome: "replaced",
    });
    const [task] = await begin();
    expect(task).toMatchObject({ id: "report", payload: 2, leasedFor: 60_000 });
    await task?.requeue();
    await (await begin())[0]?.requeue();
    expect(await queue().get("report")).toMatchObject({ state: "pending" });
  });

  test("leaves a task alone that a consumer has begun, or that has ended", async () => {
    await queue().enqueue(1, replace);
    const [task] = await begin();
    const dropped = { id: "report", created: false, outcome: "dropped" };
    expect(await queue().enqueue(2, replace)).toEqual(dropped);
    await task?.requeue();
    expect(await queue().enqueue(3, replace)).toEqual(dropped);
    const [again] = await begin();
    expect(again).toMatchObject({ payload: 1 });
    await again?.complete();
    expect(await queue().enqueue(4, replace)).toEqual(dropped);
    expect(await queue().enqueue(5, { ...replace, again: true })).toMatchObject({ outcome: "created" });
    expect(await payloads()).toEqual([5]);
  });

  test("gives a task another place if its delay, group or priority changes", async () => {
    const places: object[] = [
      { delay: "1m" },
      {},
      { group: "a" },
      { group: "b", delay: "1m" },
      { group: "b", delay: "5s" },
      { group: "b", priority: 2 },
      { priority: 2 },
      { delay: "2m" },
      {},
      { group: "a" },
      { group: "a", lease: "1m" },
      {},
    ];
    await queue().enqueue(0, replace);
    for (const [i, options] of places.entries()) {
      expect(await queue().enqueue(i, { ...replace, ...options })).toMatchObject({ outcome: "replaced" });
      const counts = await queue().counts();
      expect([counts.pending, counts.delayed]).toEqual("delay" in options ? [0, 1] : [1, 0]);
    }
    expect(await payloads()).toEqual([places.length - 1]);
    expect(await queue().counts()).toMatchObject({ pending: 0, delayed: 0, working: 1 });
  });

  test("moves a task of a group that is at its limit", async () => {
    await rig.operator().configureGroup("a", { maxWorking: 1 });
    await queue().enqueue(1, { group: "a" });
    await begin();
    await queue().enqueue(2, { ...replace, group: "a" });
    await queue().enqueue(3, { ...replace, group: "a" });
    expect(await payloads()).toEqual([]);
    await queue().enqueue(4, { ...replace, group: "b" });
    expect(await payloads()).toEqual([4]);
  });

  test("is refused if a queue is full that a delayed task would join", async () => {
    await rig.operator().configure({ maxPending: 1 });
    await queue().enqueue(1, { ...replace, delay: "1m" });
    await queue().enqueue("other");
    await expect(queue().enqueue(2, replace)).rejects.toMatchObject({ code: "queue_full" });
    expect(await queue().get("report", { payload: true })).toMatchObject({ state: "delayed", payload: 1 });
  });

  test("of a task that its producer enqueued without it keeps the producer's token", async () => {
    const { id } = await queue().enqueue(1);
    expect(await queue().enqueue(2, { id, replace: true })).toMatchObject({ id, outcome: "replaced" });
    expect((await rig.space()).tasks.get(id)).toBe(`1;${rig.now}\nj2`);
  });
});
