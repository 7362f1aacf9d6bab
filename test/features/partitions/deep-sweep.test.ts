import { expect, test } from "vitest";
import { deepSweep, Queue, type DeepSweepOptions, type Transport } from "../../../src/index.ts";
import { checkQueues } from "../../../src/features/repair/check-queues.ts";
import { instances } from "../../support/instances.ts";
import { tagged, type KeySpace } from "../../support/key-space.ts";
import { numbered } from "../../support/new-tasks.ts";
import { allPages } from "../../support/paging.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();
const { now, instance, between, operatorOf, queueOf, keysIn } = instances(rig);
const partitions = 3;
const names = [0, 1, 2].map((at) => `${QUEUE}/${at}`);

async function fill(): Promise<void> {
  await rig
    .operator({ partitions })
    .configure({ maxWorking: 2, maxPending: 100, rate: { most: 2, per: "1s" } });
  await rig.queue({ partitions }).enqueueMany(numbered(30).map((task, i) => ({ ...task, priority: i % 2 })));
}

const isValid = async () => {
  const checks = await checkQueues(rig.transport, names, { now });
  return names.map((name) => checks.get(name)?.valid);
};

/** Puts an id without a task into the list of some partitions. */
const lose = async (...some: number[]) => {
  for (const at of some) await rig.command("LPUSH", keysIn(at).pending, "lost");
};

/** All reports of a deep sweep that its budget ends after each step. */
const inSteps = (options: DeepSweepOptions, transport: Transport = rig.transport) =>
  allPages((cursor) => deepSweep(transport, { budget: 0, now, ...options, cursor }));

test("the notes of slots and shares are valid, and stay", async () => {
  await fill();
  expect(await isValid()).toEqual([true, true, true]);
  const notes = (space: KeySpace) =>
    names.map((name) => {
      const { hash } = space[`sluice:${tagged(name)}:tasks`] as { hash: Record<string, string> };
      return ["~slots", "~shares", "~set"].map((field) => hash[field]);
    });
  const before = notes(await rig.keySpace());
  expect(await deepSweep(rig.transport, { queue: QUEUE, now })).toMatchObject({
    queues: 1,
    faults: [],
    failed: [],
  });
  // Also the pass through each key, which a fault elsewhere causes.
  await lose(0, 1, 2);
  await deepSweep(rig.transport, { queue: QUEUE, now });
  expect(notes(await rig.keySpace())).toEqual(before);
});

test("faults name the partition, and a cursor continues with the next one", async () => {
  await fill();
  await lose(1, 2);
  const fault = { queue: QUEUE, fault: "payload_missing", count: 1, ids: ["lost"] };
  for (const { given, expected } of [
    { given: { queue: QUEUE }, expected: [1, 2].map((partition) => ({ ...fault, partition })) },
    { given: {}, expected: [] },
  ]) {
    const reports = await inSteps(given);
    expect(reports.flatMap(({ faults }) => faults)).toEqual(expected);
    expect(Math.max(...reports.map(({ queues }) => queues))).toBe(1);
  }
  expect(await isValid()).toEqual([true, true, true]);
  const other = deepSweep(rig.transport, { queue: "other", cursor: `${QUEUE}/1/working/0` });
  await expect(other).rejects.toMatchObject({ path: "cursor" });
});

test("a queue that gets its first partitions during a deep sweep is checked in all of them", async () => {
  let requests = 1;
  let moment = 0;
  for (; moment < requests; moment++) {
    await rig.command("FLUSHALL");
    await rig.queue().enqueueMany(numbered(30));
    await rig.command("LPUSH", `sluice:{${QUEUE}}:pending`, "lost");
    const transport = instance(async (request) => {
      requests = request + 1;
      if (request === moment) await operatorOf().resize(partitions);
    });
    const report = await deepSweep(transport, { queue: QUEUE, now });
    const faults = [{ queue: QUEUE, fault: "payload_missing", count: 1, ids: ["lost"] }];
    expect({ moment, ...report }).toMatchObject({ moment, queues: 1, faults, failed: [], cursor: null });
    expect((await deepSweep(instance(), { queue: QUEUE, now })).faults, `at request ${moment}`).toEqual([]);
  }
  expect(moment).toBeGreaterThan(4);
});

test("a deep sweep that its budget ends goes on with the partitions that a queue has got meanwhile", async () => {
  await rig.queue().enqueueMany(numbered(30));
  await rig.command("LPUSH", `sluice:{${QUEUE}}:pending`, "lost");
  const transport = between(2, async () => {
    await operatorOf().resize(partitions);
    await queueOf().enqueueMany(numbered(30, {}, "u"));
    await lose(1, 2);
  });
  const reports = await inSteps({ queue: QUEUE }, transport);
  const faults = [0, 1, 2].map((partition) => ({ partition, fault: "payload_missing", count: 1 }));
  expect({
    failed: reports.flatMap(({ failed }) => failed),
    found: reports
      .flatMap((report) => report.faults)
      .map(({ partition = 0, fault, count }) => ({ partition, fault, count })),
  }).toEqual({ failed: [], found: faults });
});

test("a marker of a newer release fails a deep sweep of its queue alone", async () => {
  await new Queue("other", { transport: rig.transport, now }).enqueue(1);
  await rig.queue().enqueue(1);
  await rig.command("SET", `sluice:{${QUEUE}}:tasks`, "2;4");
  expect(await deepSweep(rig.transport, { now })).toMatchObject({
    queues: 1,
    failed: [{ queue: QUEUE, code: "redis_error" }],
  });
  await rig.command("FLUSHALL");
});
