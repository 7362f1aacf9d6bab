import { describe, expect, test } from "vitest";
import { slotOf } from "../../../src/kernel/names/slots.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const partitioned = (partitions = 8) => rig.queue({ partitions });

describe("a queue with partitions", () => {
  test("an id and a dedup key of one task must be in one slot", async () => {
    const queue = partitioned();
    const dedup = { key: "customer-5", window: "1h" } as const;
    await expect(queue.enqueue(1, { id: "order-7", dedup })).rejects.toMatchObject({
      code: "invalid_argument",
      path: "dedup.key",
      message:
        'dedup.key must have the id of the task in braces, such as "customer-5{order-7}": in a queue with partitions ' +
        "both are then in the same partition",
    });
    for (const [id, key, example] of [
      ["order-8{customer-5}", "mail", "mail{customer-5}"],
      ["order-9", "mail{customer-5}", "mailcustomer-5{order-9}"],
    ] as const) {
      const task = (text: string) => queue.enqueue(1, { id, dedup: { key: text, window: "1h" } });
      await expect(task(key)).rejects.toMatchObject({
        message: expect.stringContaining(`such as "${example}"`),
      });
      expect((await task(example)).created).toBe(true);
    }
    const inOne = { id: "order-7", dedup: { key: "customer-5{order-7}", window: "1h" } } as const;
    expect(await queue.enqueue(1, inOne)).toEqual({ id: "order-7", created: true });
    expect(await queue.enqueue(1, { ...inOne, id: "other{order-7}" })).toEqual({
      id: "order-7",
      created: false,
    });
  });

  test("an idempotency key that comes again with another group is noticed only in the partition of that group", async () => {
    const queue = partitioned(2);
    const groups = Array.from({ length: 9 }, (_, i) => `customer-${i}`);
    const half = (group: string | undefined) => Math.floor(slotOf(group ?? "") / 128);
    const [first] = groups;
    const same = groups.find((group) => group !== first && half(group) === half(first));
    const other = groups.find((group) => half(group) !== half(first));
    const enqueue = (group: string | undefined) => queue.enqueue(1, { group, idempotencyKey: "once" });
    const { id } = await enqueue(first);
    expect(await enqueue(first)).toEqual({ id, created: true });
    await expect(enqueue(same)).rejects.toMatchObject({ code: "idempotency_key_reused" });
    expect(await enqueue(other)).toEqual({ id, created: true });
    expect((await queue.counts()).pending).toBe(2);
  });
});
