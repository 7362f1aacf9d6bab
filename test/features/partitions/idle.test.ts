import { beforeEach, describe, expect, test } from "vitest";
import { instances } from "../../support/instances.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// Which partitions consumers and sweeps visit: none that has work may be recorded as idle.

const rig = useRig({ checkInvariants: false });
const { queueOf, schedulesOf, resize, keysIn, textIn, sweepAll } = instances(rig);
const score = async (partition: number) =>
  Number(await rig.command("ZSCORE", "sluice:queues", `${QUEUE}/${partition}`));
/** By then a note of the registry is old. */
const LATER = 121_000;

/** Polls with new instances, as functions do, until the idle partitions are recorded. */
async function poll(): Promise<number> {
  let found = 0;
  for (let i = 0; i < 3; i++) found += (await queueOf(4).dequeue({ max: 10 })).length;
  return found;
}

beforeEach(() => resize(4));

describe("a partition that was found without ready tasks", () => {
  test("is idle until its next task is due or its lease expires, then it is visited again", async () => {
    await queueOf(4).enqueue(1, { id: await textIn(2), delay: "1h" });
    expect(await score(2)).toBe(rig.now);
    await poll();
    expect(await score(2), "its note is too new").toBe(rig.now);
    rig.now += LATER;
    await poll();
    expect(await score(2)).toBe(rig.now - LATER + 3_600_000);
    rig.now += 3_600_000;
    expect(await queueOf(4).dequeue({ lease: "2h" })).toHaveLength(1);
    rig.now += LATER;
    await poll();
    expect(await score(2)).toBe(rig.now - LATER + 7_200_000);
    rig.now += 7_200_000;
    await sweepAll();
    expect(await poll()).toBe(1);
  });

  test("is idle without an end if nothing is due, and a note makes it active again", async () => {
    const id = await textIn(3);
    await queueOf(4).enqueue(1, { id });
    const [task] = await queueOf(4).dequeue();
    await task?.complete();
    const at = rig.now;
    rig.now += LATER;
    await poll();
    expect(await score(3)).toBe(-at);
    await queueOf(4).enqueue(2, { id: `${id}{${id}}` });
    expect(await score(3)).toBe(rig.now);
    expect(await poll()).toBe(1);
  });

  test.each([
    { from: "that take from it", others: 0 },
    { from: "that only look at it, because others have tasks", others: 40 },
  ])("is not idle for consumers $from while tasks wait behind a limit of their group", async ({ others }) => {
    const group = await textIn(1);
    const { tasks, limited } = keysIn(1);
    await rig.command("HSET", tasks, `~s:${group}`, "1;m=1;n=1", "~groups", "1");
    await queueOf(4).enqueueMany([1, 2].map((payload) => ({ payload, group })));
    const [first] = await queueOf(4).dequeue({ lease: "1h" });
    expect(await rig.command("EXISTS", limited)).toBe(1);
    rig.now += LATER;
    const other = await textIn(2);
    await queueOf(4).enqueueMany(
      Array.from({ length: others }, (_, i) => ({ payload: 0, id: `${i}{${other}}` })),
    );
    for (let i = 0; i < others; i++) expect((await queueOf(4).dequeue())[0]?.payload).toBe(0);
    if (others === 0) expect(await poll()).toBe(0);
    // At most as long as a dequeue says that it waits for such tasks.
    expect(await score(1)).toBeLessThanOrEqual(rig.now + 1_000);
    await first?.complete();
    rig.now += 1_000;
    expect(await poll()).toBe(1);
  });

  test("is active again for a task that is requeued", async () => {
    await queueOf(4).enqueue(1, { id: await textIn(3) });
    const [task] = await queueOf(4).dequeue({ lease: "1h" });
    rig.now += LATER;
    await poll();
    expect(await score(3)).toBeGreaterThan(rig.now);
    const [settled] = await queueOf(4).settle([{ receipt: task?.receipt ?? "", outcome: "requeue" }]);
    expect(settled).toMatchObject({ ok: true, state: "pending" });
    expect(await score(3)).toBe(rig.now);
    expect(await poll()).toBe(1);
  });
});

test.each([
  {
    who: "a schedule",
    async adds() {
      await schedulesOf().put("tick", { every: "1m", payload: "tock" });
      rig.now += 60_000;
      expect(await sweepAll()).toMatchObject({ scheduled: 1 });
    },
  },
  { who: "a producer that does not know of the partitions", adds: () => queueOf().enqueue(1) },
])("partition 0 is visited when $who has added a task", async ({ adds }) => {
  await queueOf(4).enqueue(1, { id: await textIn(0), delay: "1d" });
  rig.now += LATER;
  await poll();
  // Another partition stays in use, so that consumers have others to visit.
  await queueOf(4).enqueue(0, { id: await textIn(1), delay: "2h" });
  await adds();
  expect(await score(0)).toBeLessThanOrEqual(rig.now);
  expect(await poll()).toBe(1);
});
