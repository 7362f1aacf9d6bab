import { expect, test } from "vitest";
import { bothLanes, byLane } from "../../support/both-lanes.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

/** What the plain lanes leave where Redis refuses in the midst of a call: what the others leave. */

const rig = useRig({ checkInvariants: false });

/** A queue of both lanes, with tasks a to c. */
async function filled() {
  const queue = rig.queue({ transport: bothLanes(rig.transport), coalesce: false });
  await queue.enqueueMany(["a", "b", "c"].map((id) => ({ id, payload: id })));
  return queue;
}

/** Makes a key something that no script can use. */
async function spoil(part: string): Promise<void> {
  for (const prefix of ["sluice", "full"]) {
    await rig.command("DEL", `${prefix}:{${QUEUE}}:${part}`);
    await rig.command("SET", `${prefix}:{${QUEUE}}:${part}`, "x");
  }
}

/** @returns what stands in line, after a call was refused in both lanes */
async function inLine(refused: Promise<unknown>): Promise<unknown> {
  await expect(refused).rejects.toThrow();
  const { plain, full } = byLane(await rig.keySpace());
  expect(plain).toEqual(full);
  return rig.command("LRANGE", `sluice:{${QUEUE}}:pending`, "0", "-1");
}

test("a dequeue that cannot lease puts back what it took", async () => {
  const queue = await filled();
  await spoil("working");
  expect(await inLine(queue.dequeue({ max: 2 }))).toEqual(["c", "b", "a"]);
});

test("a settle that cannot keep records leaves in line what its dequeue took", async () => {
  const queue = await filled();
  const [task] = await queue.dequeue();
  await spoil("expiry");
  const settlements = [{ receipt: task!.receipt, outcome: "complete" }] as const;
  expect(await inLine(queue.settleAndDequeue(settlements, { max: 2 }))).toEqual(["c", "b"]);
});
