import { expect, describe, test } from "vitest";
import { useRig } from "../../support/rig.ts";
import { useKeyed } from "./keyed-queue.ts";

const rig = useRig();
const { queue, payloads } = useKeyed(rig);
const throttle = { key: "user-7", most: 2, per: "10s" } as const;

describe("throttle", () => {
  test("drops the tasks beyond so many in a period, and answers with the last one", async () => {
    const outcomes = [];
    const ids = [];
    for (let call = 1; call <= 4; call++) {
      const { id, created, outcome } = await queue().enqueue(call, { throttle });
      expect(created).toBe(outcome === "created");
      outcomes.push(outcome);
      ids.push(id);
      rig.now += 1_000;
    }
    expect(outcomes).toEqual(["created", "created", "dropped", "dropped"]);
    expect(ids[3]).toBe(ids[1]);
    expect(await payloads()).toEqual([1, 2]);
  });

  test("has no period with more, and allows more when one is over, by tenths of it", async () => {
    const begun: number[] = [];
    for (let second = 0; second < 60; second++) {
      const { outcome } = await queue().enqueue(second, { throttle });
      if (outcome === "created") begun.push(second);
      rig.now += 1_000;
    }
    expect(begun).toEqual([0, 1, 11, 12, 22, 23, 33, 34, 44, 45, 55, 56]);
  });

  test("delays the tasks beyond until there is room, in their order", async () => {
    const due: number[] = [];
    for (let call = 1; call <= 5; call++) {
      const { id, outcome } = await queue().enqueue(call, { throttle: { ...throttle, excess: "delay" } });
      expect(outcome).toBe("created");
      const task = await queue().get(id);
      due.push(task?.state === "delayed" ? task.dueAt - rig.now : 0);
    }
    expect(due).toEqual([0, 0, 11_000, 11_000, 22_000]);
    rig.now += 11_000;
    expect(await payloads()).toEqual([1, 2, 3, 4]);
  });

  test("adds the delay of a task to its turn", async () => {
    const options = { throttle: { ...throttle, most: 1, excess: "delay" }, delay: "3s" } as const;
    await queue().enqueue(1, options);
    const { id } = await queue().enqueue(2, options);
    expect(await queue().get(id)).toMatchObject({ dueAt: rig.now + 14_000 });
  });

  test("counts on when the period changes", async () => {
    await queue().enqueue(1, { throttle });
    await queue().enqueue(2, { throttle: { ...throttle, per: "20s" } });
    expect(await queue().enqueue(3, { throttle: { ...throttle, per: "20s" } })).toMatchObject({
      outcome: "dropped",
    });
  });

  test("loses a period at most if the clock is set back", async () => {
    await queue().enqueue(1, { throttle });
    rig.now -= 3_600_000;
    expect(await queue().enqueue(2, { throttle })).toMatchObject({ outcome: "created" });
    expect(await queue().enqueue(3, { throttle })).toMatchObject({ outcome: "dropped" });
  });

  test.each(["cancelled", "removed"])("counts a task that is %s: its turn comes to no other", async (how) => {
    const options = { throttle: { ...throttle, most: 1, excess: "delay" } } as const;
    await queue().enqueue(1, options);
    const { id } = await queue().enqueue(2, options);
    const { dueAt } = (await queue().get(id)) as { dueAt: number };
    await queue().cancel(id);
    if (how === "removed") await rig.operator().remove(id);
    const next = await queue().enqueue(3, options);
    expect(await queue().get(next.id)).toMatchObject({ dueAt: dueAt + 11_000 });
    expect(await queue().enqueue(4, { throttle: { ...throttle, most: 1 } })).toMatchObject({
      outcome: "dropped",
    });
  });

  test("does not count what a full queue refuses", async () => {
    await rig.operator().configure({ maxPending: 1 });
    await queue().enqueue(1, { throttle });
    await expect(queue().enqueue(2, { throttle })).rejects.toMatchObject({ code: "queue_full" });
    await rig.operator().configure({ maxPending: 5 });
    expect(await queue().enqueue(3, { throttle })).toMatchObject({ outcome: "created" });
  });

  test("works with groups and priorities", async () => {
    await queue().enqueue(1, { throttle, group: "a" });
    await queue().enqueue(2, { throttle, group: "a", priority: 5 });
    await queue().enqueue(3, { throttle, group: "b" });
    expect(await payloads()).toEqual([2, 1]);
  });
});
