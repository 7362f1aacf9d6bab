import { describe, expect, test } from "vitest";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { countQueues, Queue } from "../../src/index.ts";

const rig = useRig();

describe("counts", () => {
  test.for([2, 250, 1_000])("skip %i cancelled tasks to find the oldest", async (cancelled) => {
    const queue = rig.queue();
    await queue.enqueueMany(numbered(cancelled));
    rig.now += 1_000;
    await queue.enqueue("next", { id: "next" });
    rig.now += 1_000;
    await queue.enqueue("last");
    const ids = numbered(cancelled).map(({ id }) => id);
    await Promise.all(ids.map((id) => queue.cancel(id)));
    const expected = cancelled < 1_000 ? 1_000 : 2_000;
    // Behind a thousand ghosts the age is only a bound: the age of the last ghost.
    expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: expected });
    await Promise.all(["next", ...ids].map((id) => queue.cancel(id)));
    expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: cancelled < 1_000 ? 0 : 2_000 });
  });

  test.for([
    ["a priority", { priority: 9 }, {}],
    ["a group", { group: "g" }, {}],
    ["neither, behind a higher priority", {}, { priority: 9 }],
  ] as const)(
    "report the greatest age of the next tasks of each kind: of one with %s",
    async ([, old, fresh]) => {
      const queue = rig.queue();
      await queue.enqueue("old", old);
      rig.now += 3_600_000;
      expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: 3_600_000 });
      await queue.enqueue("fresh", fresh);
      expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: 3_600_000 });
    },
  );

  test("leave out held tasks of a group only while other tasks wait", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("g", { maxWorking: 1 });
    await queue.enqueueMany(numbered(2, { group: "g" }));
    await queue.dequeue();
    await queue.dequeue();
    rig.now += 60_000;
    expect(await queue.counts()).toMatchObject({ pending: 1, working: 1, oldestAge: 60_000 });
    await queue.enqueue("free");
    rig.now += 1_000;
    expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: 1_000 });
    await queue.dequeue();
    expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: 61_000 });
  });
});

test("countQueues counts several queues in one request; a fault of one does not fail the others", async () => {
  const { transport } = rig;
  const now = () => rig.now;
  await new Queue("a", { transport, now }).enqueueMany([{ payload: 1 }, { payload: 2 }]);
  const second = new Queue("b", { transport, now });
  await second.enqueue(1);
  await second.dequeue();
  await rig.command("SET", "sluice:{broken}:tasks", "not a hash");
  await rig.command("LPUSH", "sluice:{broken}:pending", "x");
  let requests = 0;
  const counted = {
    send: (...args: Parameters<typeof transport.send>) => (requests++, transport.send(...args)),
  };
  const counts = await countQueues(counted, ["b", "broken", "none", "a"], { now });
  // Two others read whether there is a map, and whether the key of another type is the marker of one to come.
  expect(requests).toBe(3);
  expect(counts).toEqual([
    await second.counts(),
    { queue: "broken", code: "redis_error" },
    await new Queue("none", { transport, now }).counts(),
    await new Queue("a", { transport, now }).counts(),
  ]);
  expect(await countQueues(counted, [])).toEqual([]);
  expect(requests).toBe(3);
});
