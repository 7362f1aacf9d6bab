import { expect, test } from "vitest";
import { leasing } from "../../support/leasing.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const leased = leasing(rig);

const progress = async () => (await rig.queue().get("a"))?.progress;

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

test("the memory of late copies is removed with the lease", async () => {
  const { task } = await leased();
  await task.extend("1m", { progress: 1 });
  expect((await rig.space()).tasks.get(".a")).toMatch(/;T=,\w{8}[;\n]/);
  await task.requeue();
  expect((await rig.space()).tasks.get(".a")).not.toMatch(/;T=/);
  expect(await progress()).toBe(1);
});
