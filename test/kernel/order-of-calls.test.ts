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

/** Makes calls, and returns the errors that no call has thrown. */
async function leftOver(calls: () => Promise<void>): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  const note = (error: unknown) => errors.push(error);
  process.on("unhandledRejection", note);
  await calls();
  // Such an event comes when no promise is left to run.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  return errors;
}

test("the first task that is wrong fails its batch, and no other error is left over", async () => {
  const queue = await freshQueue("turn");
  const errors = await leftOver(async () => {
    for (let round = 0; round < 2; round++) {
      const batch = queue.enqueueMany([{ payload: undefined }, { payload: "plain", id: "no id" }]);
      await expect(batch).rejects.toMatchObject({ code: "invalid_argument", path: "tasks[0].payload" });
    }
  });
  expect(errors).toEqual([]);
});

test.each(["turn", false] as const)(
  "a settlement that is wrong fails its settle, and no other error is left over: coalesce %s",
  async (coalesce) => {
    const receipt = "1.1.1.token-17.a";
    const wrong: [path: string, settlements: readonly unknown[]][] = [
      ["settlements[0]", [null]],
      ["settlements[0]", [undefined, null]],
      ["settlements[0]", ["complete"]],
      ["settlements[0]", [Object.assign(() => {}, { receipt, outcome: "complete" })]],
      ["settlements[0].receipt", [{ outcome: "requeue" }]],
      ["settlements[0].delay", [{ receipt, outcome: "requeue", delay: -1 }, null]],
      ["settlements[1]", [{ receipt, outcome: "reject" }, null]],
      ["settlements[1].receipt", [{ receipt, outcome: "complete" }, { outcome: "complete" }]],
    ];
    const errors = await leftOver(async () => {
      for (const [path, settlements] of wrong) {
        const queue = await freshQueue(coalesce);
        for (let round = 0; round < 2; round++)
          await expect(queue.settle(settlements as never)).rejects.toMatchObject({ path });
      }
    });
    expect(errors).toEqual([]);
  },
);

test("a completion may inherit for how long its result is kept", async () => {
  const queue = await freshQueue("turn");
  const { id } = await queue.enqueue("plain");
  const [task] = await queue.dequeue();
  const completion = Object.create({ receipt: task?.receipt, outcome: "complete", result: "done", ttl: 0 });
  expect(await queue.settle([completion])).toMatchObject([{ ok: true, state: "completed" }]);
  expect(await queue.get(id)).not.toHaveProperty("result");
});
