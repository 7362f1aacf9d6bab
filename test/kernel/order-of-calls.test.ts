import { beforeEach, expect, test, vi } from "vitest";
import { QUEUE, useRig } from "../support/rig.ts";

// Calls that do not wait for each other. Some of them load code when it is first needed, which takes a while.
const rig = useRig();

beforeEach(async () => {
  // A script that Redis does not have yet is sent again.
  const queue = rig.queue();
  await queue.enqueue("plain");
  await queue.enqueue("named", { id: "before" });
  await queue.dequeue({ max: 2 });
});

/** A queue of a function instance that has just begun. */
async function freshQueue(coalesce: "turn" | false) {
  vi.resetModules();
  const { Queue } = await import("../../src/index.ts");
  return new Queue(QUEUE, { transport: rig.transport, now: () => rig.now, coalesce });
}

const pending = async () => {
  const tasks = await rig.queue().dequeue({ max: 100 });
  return tasks.map(({ payload }) => (payload instanceof Uint8Array ? "bytes" : payload));
};

test.each(["turn", false] as const)("tasks are pending in their order: coalesce %s", async (coalesce) => {
  const queue = await freshQueue(coalesce);
  for (let round = 0; round < 2; round++) {
    await Promise.all([
      queue.enqueue(new Uint8Array(3)),
      queue.enqueue("plain"),
      queue.enqueue("named", { id: `named-${round}` }),
      queue.enqueue("last"),
    ]);
    expect(await pending()).toEqual(["bytes", "plain", "named", "last"]);
  }
});

test("tasks of several batches are pending in their order", async () => {
  const queue = await freshQueue("turn");
  for (let round = 0; round < 2; round++) {
    await Promise.all([
      queue.enqueueMany([{ payload: "named", id: `named-${round}` }, { payload: new Uint8Array(3) }]),
      queue.enqueueMany([{ payload: "plain" }]),
    ]);
    expect(await pending()).toEqual(["named", "bytes", "plain"]);
  }
});

test("the first task that is wrong fails its batch, and no other error is left over", async () => {
  const unhandled = vi.fn<(error: unknown) => void>();
  process.on("unhandledRejection", unhandled);
  const queue = await freshQueue("turn");
  for (let round = 0; round < 2; round++) {
    const batch = queue.enqueueMany([{ payload: undefined }, { payload: "plain", id: "no id" }]);
    await expect(batch).rejects.toMatchObject({ code: "invalid_argument", path: "tasks[0].payload" });
  }
  // Such an event comes when no promise is left to run.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", unhandled);
  expect(unhandled.mock.calls).toEqual([]);
});
