import { describe, expect, test } from "vitest";
import type { Queue } from "../../src/index.ts";
import { QUEUE, useRig } from "../support/rig.ts";

const rig = useRig();

/** Dequeues one by one, completing each, and tells the groups in the order of delivery. */
async function deliveries(queue: Queue, count: number): Promise<string[]> {
  const groups: string[] = [];
  for (let i = 0; i < count; i++) {
    const [task] = await queue.dequeue();
    if (!task) break;
    groups.push(task.group ?? "");
    await task.complete();
  }
  return groups;
}

const many = (group: string | undefined, count: number, options = {}) =>
  Array.from({ length: count }, (_, i) => ({ payload: i, group, ...options }));

describe("groups share a queue", () => {
  test("a group of ten beside one of a thousand is done after twenty deliveries", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(many("large", 1_000));
    await queue.enqueueMany(many("small", 10));
    const first = await deliveries(queue, 20);
    expect(first.filter((group) => group === "small")).toHaveLength(10);
    expect((await queue.counts()).pending).toBe(990);
  });
});
