import { describe, expect, test } from "vitest";
import type { EnqueueOptions } from "../../src/index.ts";
import { named, numbered } from "../support/new-tasks.ts";
import { key, START, useRig } from "../support/rig.ts";

// Counts beside invalid records. Until the deep sweep repairs them, counts skip them.

const rig = useRig({ checkInvariants: false });

/** Changes to the task `first` that make it not deliverable for this release. */
const UNREADABLE: readonly [what: string, ...command: readonly string[]][] = [
  ["an unreadable record", "HSET", "first", "junk"],
  ["a record of a later release", "HSET", "first", `2;${START};?`],
  ["a changing record of a later release", "HSET", ".first", "2;?"],
  ["no record", "HDEL", "first"],
];

/** Prepares a place in which `first` is the first to be delivered, beside tasks that are enqueued a second later. */
const PLACES: readonly [place: string, options: EnqueueOptions, prepare: () => Promise<unknown>][] = [
  ["next in line", {}, async () => {}],
  ["next in line of a group", { group: "g" }, async () => {}],
  [
    "the first held task of a group",
    { group: "g" },
    async () => {
      await rig.operator().configureGroup("g", { maxWorking: 1 });
      await rig.queue().enqueue("working", { group: "g" });
      await rig.queue().dequeue();
    },
  ],
  ["behind a cancelled one", {}, () => rig.queue().enqueue("cancelled", { id: "cancelled" })],
];

describe.each(UNREADABLE)("counts skip a task with %s", (_, command, ...fields) => {
  const damage = () => rig.command(command, key("tasks"), ...fields);

  test.each(PLACES)("%s", async (__, options, prepare) => {
    const queue = rig.queue();
    await prepare();
    await queue.enqueue("first", { id: "first", ...options });
    rig.now += 1_000;
    await queue.enqueue("next", options);
    await queue.cancel("cancelled");
    await damage();
    rig.now += 5_000;
    expect(await queue.counts()).toMatchObject({ pending: 2, oldestAge: 5_000 });
  });

  test("and report an age of 0 if no other task waits", async () => {
    const queue = rig.queue();
    await queue.enqueue("first", { id: "first" });
    await damage();
    rig.now += 5_000;
    expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: 0 });
  });
});

test.for([{}, { group: "g" }])(
  "counts look at no more than 1,000 entries of a line, with %o",
  async (options) => {
    const queue = rig.queue();
    await queue.enqueueMany(numbered(1_000, options));
    await queue.enqueue("next", options);
    rig.now += 5_000;
    await rig.command("HDEL", key("tasks"), ...numbered(1_000).map(({ id }) => id));
    await rig.command("HSET", key("tasks"), "t0", "junk");
    expect(await queue.counts()).toMatchObject({ pending: 1_001, oldestAge: 0 });
    await rig.command(...("group" in options ? ["ZREM", key("fair"), "t0"] : ["RPOP", key("pending")]));
    expect(await queue.counts()).toMatchObject({ pending: 1_000, oldestAge: 5_000 });
  },
);

test("counts report the age of a task with an unreadable changing record, as a dequeue returns it", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(named(["first"]));
  await rig.command("HSET", key("tasks"), ".first", "junk");
  rig.now += 5_000;
  expect(await queue.counts()).toMatchObject({ pending: 1, oldestAge: 5_000 });
});
