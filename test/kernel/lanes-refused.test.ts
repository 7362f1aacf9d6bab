import { expect, test } from "vitest";
import { bothLanes, byLane } from "../support/both-lanes.ts";
import { QUEUE, useRig } from "../support/rig.ts";

/** If Redis refuses in the middle of a call, or a list is wrong, the plain lanes leave the same data as the full ones. */

const rig = useRig({ checkInvariants: false });

/** A queue of both lanes, with tasks a to c. */
async function filled() {
  const queue = rig.queue({ transport: bothLanes(rig.transport), coalesce: false });
  await queue.enqueueMany(["a", "b", "c"].map((id) => ({ id, payload: id })));
  return queue;
}

/** Gives a key the wrong type, with which every script fails. */
async function spoil(part: string): Promise<void> {
  for (const prefix of ["sluice", "full"]) {
    await rig.command("DEL", `${prefix}:{${QUEUE}}:${part}`);
    await rig.command("SET", `${prefix}:{${QUEUE}}:${part}`, "x");
  }
}

/** Expects that a call was refused equally in both lanes, and returns the pending list. */
async function inLine(refused: Promise<unknown>): Promise<unknown> {
  await expect(refused).rejects.toThrow();
  const { plain, full } = byLane(await rig.keySpace());
  expect(plain).toEqual(full);
  return rig.command("LRANGE", `sluice:{${QUEUE}}:pending`, "0", "-1");
}

test("a dequeue that cannot lease puts its tasks back", async () => {
  const queue = await filled();
  await spoil("working");
  expect(await inLine(queue.dequeue({ max: 2 }))).toEqual(["c", "b", "a"]);
});

test("a settle that cannot keep records leaves the tasks of its dequeue pending", async () => {
  const queue = await filled();
  const [task] = await queue.dequeue();
  await spoil("expiry");
  const settlements = [{ receipt: task!.receipt, outcome: "complete" }] as const;
  expect(await inLine(queue.settleAndDequeue(settlements, { max: 2 }))).toEqual(["c", "b"]);
});

test("an id that is in line twice is delivered once (I2)", async () => {
  const queue = await filled();
  for (const prefix of ["sluice", "full"])
    await rig.command("LPUSH", `${prefix}:{${QUEUE}}:pending`, "a", "b");
  expect((await queue.dequeue({ max: 5 })).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  const { plain, full } = byLane(await rig.keySpace());
  expect(plain).toEqual(full);
});
