import { describe, expect, test } from "vitest";
import { key, START, useRig } from "../../support/rig.ts";

// Counts beside records that nobody can read. The deep sweep mends them; until then counts look past them.

const rig = useRig({ checkInvariants: false });

/** Fields of the task `first` that make it no task to deliver, as this release sees it. */
const UNREADABLE: readonly [what: string, ...command: readonly string[]][] = [
  ["an unreadable record", "HSET", "first", "junk"],
  ["a record of a later release", "HSET", "first", `2;${START};?`],
  ["a changing record of a later release", "HSET", ".first", "2;?"],
  ["no record", "HDEL", "first"],
];

const make = ([name = "", ...fields]: readonly string[]) => rig.command(name, key("tasks"), ...fields);

describe("counts look past a task with", () => {
  for (const [what, ...command] of UNREADABLE) {
    test.for([{}, { group: "g" }])(`${what}, next in line with %o`, async (options) => {
      const queue = rig.queue();
      await queue.enqueue("first", { id: "first", ...options });
      rig.now += 1_000;
      await queue.enqueue("next", options);
      await make(command);
      rig.now += 5_000;
      expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: 5_000 });
    });

    test(`${what}, the first that a limit holds`, async () => {
      const queue = rig.queue();
      await rig.operator().configureGroup("g", { maxWorking: 1 });
      await queue.enqueue("working", { group: "g" });
      await queue.dequeue();
      await queue.enqueue("first", { id: "first", group: "g" });
      rig.now += 1_000;
      await queue.enqueue("next", { group: "g" });
      await make(command);
      rig.now += 5_000;
      expect(await queue.counts()).toMatchObject({ pending: 2, working: 1, oldestAge: 5_000 });
    });

    test(`${what}, behind a cancelled one`, async () => {
      const queue = rig.queue();
      await queue.enqueueMany(["cancelled", "first"].map((id) => ({ id, payload: id })));
      rig.now += 1_000;
      await queue.enqueue("next");
      await queue.cancel("cancelled");
      await make(command);
      rig.now += 5_000;
      expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: 5_000 });
    });

    test(`${what}, and tell an age of 0 if no other waits`, async () => {
      const queue = rig.queue();
      await queue.enqueue("first", { id: "first" });
      await make(command);
      rig.now += 5_000;
      expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: 0 });
    });
  }
});

test.for([{}, { group: "g" }])("counts look at 1,000 entries of a line, with %o", async (options) => {
  const queue = rig.queue();
  const ids = Array.from({ length: 1_000 }, (_, i) => `t${i}`);
  await queue.enqueueMany(ids.map((id) => ({ id, payload: id, ...options })));
  await queue.enqueue("next", options);
  rig.now += 5_000;
  await rig.command("HDEL", key("tasks"), ...ids.slice(1));
  await rig.command("HSET", key("tasks"), "t0", "junk");
  expect(await queue.counts()).toMatchObject({ pending: 1_001, oldestAge: 0 });
  await rig.command(...("group" in options ? ["ZREM", key("fair"), "t0"] : ["RPOP", key("pending")]));
  expect(await queue.counts()).toMatchObject({ pending: 1_000, oldestAge: 5_000 });
});

test("counts beside an unreadable changing record tell the task's age, as a dequeue would give it", async () => {
  const queue = rig.queue();
  await queue.enqueue("first", { id: "first" });
  await rig.command("HSET", key("tasks"), ".first", "junk");
  rig.now += 5_000;
  expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: 5_000 });
});
