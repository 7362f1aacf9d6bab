import { expect, test } from "vitest";
import { queueHealth } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";

// A group whose limit was removed while many of its tasks waited for it.

const rig = useRig();
const GROUP = { group: "tenant-7" };

async function release(tasks: number) {
  await rig.operator().configureGroup("tenant-7", { maxWorking: 1 });
  await rig
    .queue()
    .enqueueMany(Array.from({ length: tasks }, (_, i) => ({ payload: i, lease: "1h", ...GROUP }) as const));
  await rig.queue().dequeue({ max: 10 });
  rig.now += 17 * 60_000;
  await rig.operator().configureGroup("tenant-7", { maxWorking: null });
}

test("its tasks are ready, and wait for no limit", async () => {
  await release(600);
  const counts = { ready: 599, working: 1, limited: 0 };
  expect(await rig.operator().groupSettings("tenant-7")).toMatchObject(counts);
  expect((await rig.operator().groups()).groups).toMatchObject([counts]);
  const { findings } = await queueHealth(rig.transport, { now: () => rig.now });
  expect(findings.filter(({ code }) => code === "group_at_limit")).toEqual([]);
});

test("each consumer gets as many as it asks for, up to a hundred", async () => {
  await release(600);
  const got: number[] = [];
  for (const max of [10, 100, 1, 100, 100, 100, 100, 100]) {
    got.push((await rig.queue().dequeue({ max })).length);
  }
  expect(got).toEqual([10, 100, 1, 100, 100, 100, 100, 88]);
});
