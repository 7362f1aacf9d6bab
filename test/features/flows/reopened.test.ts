import { expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import { deepSweep, Operator, Queue } from "../../../src/index.ts";
import { task, useFlowRig } from "./flow-rig.ts";

// What may happen around a redrive.

const { rig, queue, flows, sweep, add, take } = useFlowRig();
const look = () => deepSweep(linked(rig.transport), { now: () => rig.now });

test("a task that fails again before its redrive is notified elsewhere lets what waits for it fall again", async () => {
  const { id, tasks } = await add([task("a"), task("b", "a", { queue: "two" })]);
  await (await take()).reject("no");
  await sweep();
  let requests = 0;
  const transport = linked({
    send: async (commands, options) => {
      const isNotice = commands.some((one) => "script" in one && one.script.name === "notify");
      // The redriven task is worked on, and fails, before other queues hear that it is alive.
      if (isNotice && requests++ === 0) await (await take()).reject("no again");
      return rig.transport.send(commands, options);
    },
  });
  await new Operator("one", { transport, now: () => rig.now }).redrive({ ids: [tasks["a"] as string] });
  expect(requests).toBeGreaterThan(0);
  expect(await queue("two").counts()).toMatchObject({ blocked: 0, rejected: 1 });
  expect(await flows().get(id)).toMatchObject({ state: "rejected" });
});

test("a deep sweep leaves a task alone that was redriven in a flow that a failure has cancelled", async () => {
  const { tasks } = await add([task("a"), task("b")], { onFailure: "cancel" });
  const both = await queue("one").dequeue({ max: 2 });
  for (const one of both) await one.reject("no");
  await new Operator("one", { transport: linked(rig.transport), now: () => rig.now }).redrive({
    ids: [tasks["a"] as string],
  });
  expect((await look()).faults).toEqual([]);
  await look();
  expect((await take()).payload).toBe("a");
});

test("a deep sweep leaves a task alone that was redriven in a flow that its user has cancelled", async () => {
  const { id, tasks } = await add([
    task("home"),
    task("x", [], { queue: "two" }),
    task("y", [], { queue: "two" }),
  ]);
  const [x] = await queue("two").dequeue();
  await x!.reject("no");
  await queue("two").dequeue();
  await flows().cancel(id);
  await new Operator("two", { transport: linked(rig.transport), now: () => rig.now }).redrive({
    ids: [tasks[x!.payload] as string],
  });
  expect((await look()).faults).toEqual([]);
  await look();
  expect((await take("two")).payload).toBe(x!.payload);
});

test("many failures of one settle cancel their flow once", async () => {
  const refs = Array.from({ length: 20 }, (_, i) => `t${i}`);
  await add([...refs.map((ref) => task(ref)), task("last", refs)], { onFailure: "cancel" });
  const tasks = await queue("one").dequeue({ max: 19 });
  let requests = 0;
  const transport = linked({
    send: (commands, options) => {
      requests++;
      return rig.transport.send(commands, options);
    },
  });
  const consumer = new Queue("one", { transport, now: () => rig.now });
  await consumer.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "reject" })));
  expect(requests).toBeLessThan(12);
  expect(await queue("one").counts()).toMatchObject({ pending: 0, blocked: 0 });
});

test("parts of a large layout that are added in one call are all known", async () => {
  await add([task("first"), task("last", "first")]);
  const first = await take();
  const long = "r".repeat(100);
  const items = Array.from({ length: 6_000 }, (_, i) => ({
    ref: `${long}${i}`,
    queue: queue("one"),
    payload: "x",
  }));
  expect(await first.addBefore("last", items)).toMatchObject({ ok: true });
  expect((await flows().get("f@one"))?.nodes).toHaveLength(6_002);
});
