import { tagged } from "../../support/key-space.ts";
import { expect, test } from "vitest";
import { deepSweep } from "../../../src/index.ts";
import { checkQueues } from "../../../src/queue/repair/check-queues.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();
const partitions = 3;
const names = [0, 1, 2].map((at) => `${QUEUE}/${at}`);
const now = () => rig.now;

async function fill(): Promise<void> {
  await rig
    .operator({ partitions })
    .configure({ maxWorking: 2, maxPending: 100, rate: { most: 2, per: "1s" } });
  const tasks = Array.from({ length: 30 }, (_, i) => ({ payload: i, id: `t${i}`, priority: i % 2 }));
  await rig.queue({ partitions }).enqueueMany(tasks);
}

const isValid = async () => {
  const checks = await checkQueues(rig.transport, names, { now });
  return names.map((name) => checks.get(name)?.valid);
};

test("the notes of slots and shares are valid, and stay", async () => {
  await fill();
  expect(await isValid()).toEqual([true, true, true]);
  const before = await rig.keySpace();
  expect(await deepSweep(rig.transport, { queue: QUEUE, now })).toMatchObject({
    queues: 1,
    faults: [],
    failed: [],
  });
  // Also the pass through each key, which a fault elsewhere causes.
  for (const name of names) await rig.command("LPUSH", `sluice:${tagged(name)}:pending`, "lost");
  await deepSweep(rig.transport, { queue: QUEUE, now });
  for (const name of names) {
    const tasks = await rig.keySpace();
    const hash = (space: typeof before) => {
      const value = space[`sluice:${tagged(name)}:tasks`];
      return "hash" in (value ?? {}) ? (value as { hash: Record<string, string> }).hash : {};
    };
    for (const field of ["~slots", "~shares", "~set"]) expect(hash(tasks)[field]).toBe(hash(before)[field]);
  }
});

test("faults name the partition, and a cursor continues with the next one", async () => {
  await fill();
  for (const at of [1, 2]) await rig.command("LPUSH", `sluice:{${QUEUE}/${at}}:pending`, "lost");
  for (const given of [{ queue: QUEUE }, {}]) {
    const found: unknown[] = [];
    const queues: number[] = [];
    let cursor: string | undefined;
    do {
      const report = await deepSweep(rig.transport, { ...given, cursor, budget: 0, now });
      found.push(...report.faults);
      queues.push(report.queues);
      cursor = report.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(found).toEqual(
      given.queue === undefined
        ? []
        : [1, 2].map((partition) => ({
            queue: QUEUE,
            partition,
            fault: "payload_missing",
            count: 1,
            ids: ["lost"],
          })),
    );
    expect(Math.max(...queues)).toBe(1);
  }
  expect(await isValid()).toEqual([true, true, true]);
  await expect(
    deepSweep(rig.transport, { queue: "other", cursor: `${QUEUE}/1/working/0` }),
  ).rejects.toMatchObject({
    path: "cursor",
  });
});
