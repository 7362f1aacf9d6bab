import { expect, test } from "vitest";
import { leasing } from "../../support/leasing.ts";
import { recorded } from "../../support/recorded.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();
const leased = leasing(rig);

const progress = async () => (await rig.queue().get("a"))?.progress;

test("a late copy of an extend leaves newer progress alone, and the later deadline holds", async () => {
  await rig.queue().enqueue(1, { id: "a" });
  const { queue, requests } = recorded(rig);
  const [task] = await queue.dequeue({ lease: "1m" });
  await task?.extend("1m", { progress: "first" });
  await task?.extend("1m", { progress: "second" });
  const [, first = [], second = []] = requests;
  await rig.transport.send(first);
  expect(await progress()).toBe("second");
  // The same progress sent again is a new call.
  await task?.extend("1m", { progress: "first" });
  expect(await progress()).toBe("first");
  await rig.transport.send(second);
  expect(await rig.queue().get("a")).toMatchObject({ progress: "first", deadlineAt: START + 60_000 });
});

test("late copies of the last eight extends are recognised, also by idempotency key", async () => {
  const { queue, task } = await leased();
  const extend = (n: number) =>
    queue.settle([{ receipt: task.receipt, outcome: "extend", progress: n }], {
      idempotencyKey: `call-${n}`,
    });
  for (let n = 1; n <= 8; n++) await extend(n);
  for (let n = 1; n <= 8; n++) {
    await extend(n);
    expect(await progress()).toBe(8);
  }
  await extend(9);
  await extend(1);
  expect(await progress()).toBe(1);
});

test("extends of one call set progress in their order, also in copies", async () => {
  const { queue, task } = await leased();
  const { receipt } = task;
  const both = ["x", "y"].map((one) => ({ receipt, outcome: "extend" as const, progress: one }));
  for (let copy = 0; copy < 2; copy++) {
    await queue.settle(both, { idempotencyKey: "both" });
    expect(await progress()).toBe("y");
  }
  await task.extend("1m", { progress: "z" });
  await queue.settle(both, { idempotencyKey: "both" });
  expect(await progress()).toBe("z");
});

test("the memory of late copies is removed with the lease", async () => {
  const { task } = await leased();
  await task.extend("1m", { progress: 1 });
  expect((await rig.space()).tasks.get(".a")).toMatch(/;T=,\w{8}[;\n]/);
  await task.requeue();
  expect((await rig.space()).tasks.get(".a")).not.toMatch(/;T=/);
  expect(await progress()).toBe(1);
});
