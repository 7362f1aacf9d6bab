import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Producer, type Queue } from "../../../src/index.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { many } from "../../support/new-tasks.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
afterEach(() => vi.restoreAllMocks());

const full = { code: "queue_full" };

/** Another function instance: it shares no memory with this one. */
const elsewhere = () => new Producer(QUEUE, { transport: { send: rig.transport.send }, now: () => rig.now });

/** The key space without the registry, the only key that a refused enqueue may change. */
async function tasksOnly() {
  const { "sluice:queues": _, ...space } = await rig.keySpace();
  return space;
}

test("a queue with maxPending refuses a further task, with nothing written, until one is dequeued", async () => {
  await rig.operator().configure({ maxPending: 2 });
  await queue.enqueue(1);
  await queue.enqueue(2);
  const before = await tasksOnly();
  await expect(queue.enqueue(3)).rejects.toMatchObject(full);
  await expect(queue.enqueue(3, { id: "mine", group: "a" })).rejects.toMatchObject(full);
  expect(await tasksOnly()).toEqual(before);
  await queue.dequeue();
  expect(await queue.enqueue(3, { id: "mine" })).toEqual({ id: "mine", created: true });
  await expect(queue.enqueue(4)).rejects.toMatchObject(full);
});

describe("a change of maxPending applies", () => {
  test("at once for the instance that sets it, for new instances, and for every batch", async () => {
    const old = elsewhere();
    const own = rig.queue();
    await old.enqueue(1);
    await own.enqueue(1);
    await rig.operator().configure({ maxPending: 2 });
    await expect(own.enqueue(2)).rejects.toMatchObject(full);
    await expect(elsewhere().enqueue(2)).rejects.toMatchObject(full);
    await expect(old.enqueueMany(many(2))).rejects.toMatchObject(full);
  });

  test("within a minute for an instance that registered the queue before, and then at every enqueue", async () => {
    const clock = vi.spyOn(Date, "now").mockReturnValue(1_000_000);
    const old = elsewhere();
    await old.enqueue(1);
    await rig.operator().configure({ maxPending: 1 });
    clock.mockReturnValue(1_059_999);
    expect(await old.enqueue(2)).toMatchObject({ created: true });
    clock.mockReturnValue(1_060_000);
    await expect(old.enqueue(3)).rejects.toMatchObject(full);
    await rig.operator().configure({ maxPending: 3 });
    await old.enqueue(3);
    await expect(old.enqueue(4)).rejects.toMatchObject(full);
  });

  test("at once for all instances when it is unset", async () => {
    const old = elsewhere();
    await rig.operator().configure({ maxPending: 1 });
    await old.enqueue(1);
    await expect(old.enqueue(2)).rejects.toMatchObject(full);
    await rig.operator().configure({ maxPending: null });
    expect(await old.enqueue(2)).toMatchObject({ created: true });
    expect(await rig.queue().enqueue(3)).toMatchObject({ created: true });
  });
});
