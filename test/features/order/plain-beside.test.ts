import { expect, test } from "vitest";
import { Operator, Queue, sweep } from "../../../src/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();

test("a program without strict order beside delivers nothing; a due task that it promotes gets to the front of its line", async () => {
  const now = () => rig.now;
  const given = { transport: linked(rig.transport), now };
  const ledger = new Queue("ledger", given);
  await new Operator("ledger", given).configure({ order: "strict" });
  for (const [id, delay] of [
    ["a", 0],
    ["due", "1s"],
    ["b", 0],
  ] as const)
    await ledger.enqueue(1, { id, group: "g", delay });
  const [head] = await ledger.dequeue({ lease: "1m" });
  expect(head?.id).toBe("a");
  rig.now += 61_000;
  const plain = { send: rig.transport.send.bind(rig.transport) };
  const refused = { code: "newer_schema" };
  await expect(new Queue("ledger", { transport: plain, now }).dequeue()).rejects.toMatchObject(refused);
  expect(await sweep(plain, { now })).toMatchObject({
    reclaimed: 0,
    failed: [{ queue: "ledger", ...refused }],
  });
  const order: unknown[] = [];
  for (let i = 0; i < 3; i++) {
    const [task, ...others] = await ledger.dequeue({ max: 3 });
    order.push(task?.id);
    expect(others).toEqual([]);
    await task?.complete();
  }
  expect(order).toEqual(["a", "due", "b"]);
});
