import { expect, test } from "vitest";
import type { Command, Transport } from "../../../src/index.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();

/** Keeps a copy of each command that is sent. */
function recording(sent: Command[][]): Transport {
  return {
    send: (commands, options) => {
      sent.push([...commands]);
      return rig.transport.send(commands, options);
    },
  };
}

const progressOf = async (id: string) => (await rig.queue().get(id))?.progress;

test("a late copy of an extend leaves newer progress alone, and the later deadline holds", async () => {
  await rig.queue().enqueue(1, { id: "a" });
  const sent: Command[][] = [];
  const [task] = await rig.queue({ transport: recording(sent) }).dequeue({ lease: "1m" });
  await task?.extend("1m", { progress: "first" });
  await task?.extend("1m", { progress: "second" });
  const [, first = [], second = []] = sent;
  await rig.transport.send(first);
  expect(await progressOf("a")).toBe("second");
  // The same progress sent again is a new call.
  await task?.extend("1m", { progress: "first" });
  expect(await progressOf("a")).toBe("first");
  await rig.transport.send(second);
  expect(await rig.queue().get("a")).toMatchObject({ progress: "first", deadlineAt: START + 60_000 });
});

test("late copies of the last eight extends are recognised, also by idempotency key", async () => {
  const queue = rig.queue();
  await queue.enqueue(1, { id: "a" });
  const [task] = await queue.dequeue();
  const extend = (n: number) =>
    queue.settle([{ receipt: task?.receipt ?? "", outcome: "extend", progress: n }], {
      idempotencyKey: `call-${n}`,
    });
  for (let n = 1; n <= 8; n++) await extend(n);
  for (let n = 1; n <= 8; n++) {
    await extend(n);
    expect(await progressOf("a")).toBe(8);
  }
  await extend(9);
  await extend(1);
  expect(await progressOf("a")).toBe(1);
});

test("extends of one call set progress in their order, also in copies", async () => {
  const queue = rig.queue();
  await queue.enqueue(1, { id: "a" });
  const [task] = await queue.dequeue();
  const receipt = task?.receipt ?? "";
  const both = ["x", "y"].map((progress) => ({ receipt, outcome: "extend" as const, progress }));
  for (let copy = 0; copy < 2; copy++) {
    await queue.settle(both, { idempotencyKey: "both" });
    expect(await progressOf("a")).toBe("y");
  }
  await task?.extend("1m", { progress: "z" });
  await queue.settle(both, { idempotencyKey: "both" });
  expect(await progressOf("a")).toBe("z");
});

test("the memory of late copies is removed with the lease", async () => {
  const queue = rig.queue();
  await queue.enqueue(1, { id: "a" });
  const [task] = await queue.dequeue();
  await task?.extend("1m", { progress: 1 });
  expect((await rig.space()).tasks.get(".a")).toMatch(/;T=,\w{8}[;\n]/);
  await task?.requeue();
  expect((await rig.space()).tasks.get(".a")).not.toMatch(/;T=/);
  expect(await progressOf("a")).toBe(1);
});
