import { expect, test } from "vitest";
import { bury } from "../support/dead-letters.ts";
import { named, numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();

test("several tasks are cancelled, each with what became of it; a copy has the same answer", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(named(["w1", "w2"]));
  await queue.dequeue({ max: 2 });
  await bury(queue, named(["dead"]));
  await queue.enqueueMany([
    ...named(["p"]),
    ...named(["g"], { group: "g" }),
    ...named(["d"], { delay: "1h" }),
  ]);
  const ids = ["p", "g", "d", "w1", { id: "w2", lease: 1 }, "dead", "none", "p"];
  const expected = [
    { id: "p", ok: true, state: "rejected" },
    { id: "g", ok: true, state: "rejected" },
    { id: "d", ok: true, state: "rejected" },
    { id: "w1", ok: true, state: "working" },
    { id: "w2", ok: false, code: "lease_lost" },
    { id: "dead", ok: false, code: "already_ended" },
    { id: "none", ok: false, code: "not_found" },
  ];
  expect(await rig.operator().cancelMany(ids)).toEqual(expected);
  expect(await rig.operator().cancelMany(ids)).toEqual(expected);
  expect(await queue.counts()).toMatchObject({ pending: 0, delayed: 0, working: 2, rejected: 1 });
});

test("several ended tasks are deleted, and no others", async () => {
  const queue = rig.queue();
  await bury(queue, named(["dead"]));
  await queue.enqueueMany(named(["done", "alive"]));
  const [task] = await queue.dequeue();
  await task?.complete("ok");
  await rig.command("HSET", "sluice:{emails}:tasks", "later", "2;x");
  expect(await rig.operator().removeMany(["dead", "done", "alive", "none", "later"])).toEqual([
    { id: "dead", ok: true },
    { id: "done", ok: true },
    { id: "alive", ok: false, code: "alive" },
    { id: "none", ok: false, code: "not_found" },
    { id: "later", ok: false, code: "newer_schema" },
  ]);
  await rig.command("HDEL", "sluice:{emails}:tasks", "later");
  expect(await queue.get("done")).toBeNull();
  expect(await queue.get("alive")).toMatchObject({ state: "pending" });
});

test("in partitions each task is found where it is, a hundred in a request", async () => {
  await rig.operator().resize(3);
  const queue = rig.queue({ partitions: 3 });
  await queue.enqueueMany(numbered(250));
  // The slots move: some tasks are then in former partitions.
  await rig.operator().resize(5);
  const ids = Array.from({ length: 250 }, (_, i) => `t${i}`);
  const cancelled = await rig.operator().cancelMany([...ids, "none"]);
  expect(cancelled).toEqual([
    ...ids.map((id) => ({ id, ok: true, state: "rejected" })),
    { id: "none", ok: false, code: "not_found" },
  ]);
  expect(await rig.operator().removeMany(ids)).toEqual(ids.map((id) => ({ id, ok: true })));
});

test("wrong ids are refused, and none is sent", async () => {
  const operator = rig.operator();
  await expect(operator.cancelMany(["a", "-b"])).rejects.toMatchObject({ path: "ids[1]" });
  await expect(operator.cancelMany([{ id: "a", lease: -1 }])).rejects.toMatchObject({ path: "ids[0].lease" });
  await expect(operator.removeMany(numbered(1_001).map(({ id }) => id))).rejects.toThrow(
    "at most 1000 items",
  );
  expect(await operator.removeMany([])).toEqual([]);
});
