import { expect, test } from "vitest";
import { deepSweep, type LeasedTask } from "../../../src/index.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { recountGroupsScript } from "../../../src/features/repair/repair-scripts.ts";
import type { Command } from "../../../src/kernel/transport.ts";
import { deepTools, pageByPage } from "../../support/deep.ts";
import { instances } from "../../support/instances.ts";
import { numbered } from "../../support/new-tasks.ts";
import { key, QUEUE, useRig } from "../../support/rig.ts";

// What happens between two calls of one deep sweep of a damaged or large queue: the model makes calls between those of a
// sound one. After each test the rig checks every invariant.
const rig = useRig();
const { runDeepSweep, enqueue, drained } = deepTools(rig);

/**
 * A short name of a command: its script, with the argument that says which part it reads, or its first words.
 */
const nameOf = (command: Command) => {
  if (!("script" in command)) return command.slice(0, 2).join(" ");
  const { script, args } = command;
  if (script.name === "repairControl") return args.length > 2 ? "control counts" : "control";
  return ["scan", "recountGroups"].includes(script.name) ? `${script.name} ${args[1]}` : script.name;
};

/** Runs a deep sweep, and each given function before the first command of its name. */
async function lookWith(happens: Readonly<Record<string, () => Promise<unknown>>>) {
  const left = new Map(Object.entries(happens));
  const transport = instances(rig).instance(async (_, commands) => {
    for (const command of commands) {
      const name = nameOf(command);
      const act = left.get(name);
      left.delete(name);
      await act?.();
    }
  });
  const { faults } = await deepSweep(pageByPage(transport), { now: () => rig.now });
  expect([...left.keys()]).toEqual([]);
  return faults.map(({ fault, ids }) => [fault, ...ids]);
}

const LIST = `LRANGE ${key("pending")}`;

/** Lets a dequeue put an entry aside, and lease a task. */
const putAside = async () => {
  await rig.command("RPUSH", key("pending"), "lost");
  await rig.queue().dequeue();
};

test("an entry that moves while it looks is found again, and of two the first in line is kept", async () => {
  await rig.queue().enqueueMany(numbered(20));
  await rig.command("LINSERT", key("pending"), "BEFORE", "t15", "t5");
  const newcomers = async () => void (await rig.queue().enqueueMany(numbered(100, {}, "new")));
  expect(await lookWith({ blankDuplicates: newcomers })).toEqual([["two_places", "t5"]]);
  const ids = [...numbered(20), ...numbered(100, {}, "new")].map(({ id }) => id);
  expect(await drained()).toEqual(ids);
});

test("a task that leaves the list and comes back while it looks gets no second place", async () => {
  await enqueue("a", "b");
  const queue = rig.queue();
  const leased: LeasedTask[] = [];
  const faults = await lookWith({
    [LIST]: async () => leased.push(...(await queue.dequeue())),
    placeLost: async () => leased[0]?.requeue(),
  });
  expect(faults).toEqual([]);
  expect((await rig.space()).pending).toEqual(["a", "b"]);
});

test.each([
  ["", 0],
  [", after a jump of the clock", -3_600_000],
])(
  "a queue that is deleted and created again while it counts is not repaired from old counts%s",
  async (_, jump) => {
    const hold = async () => {
      await rig.operator().configureGroup("g", { rate: { most: 1, per: "1s" } });
      await rig.queue().enqueueMany(numbered(2, { group: "g" }));
      await rig.queue().dequeue();
      await enqueue("a");
      await rig.queue().cancel("a");
    };
    await hold();
    const deleting = async () => {
      rig.now += jump;
      await rig.operator().deleteQueue({ force: true });
    };
    expect(await lookWith({ "scan delayed": deleting, "control counts": hold })).toEqual([]);
    expect(await rig.queue().counts()).toMatchObject({ pending: 1, delayed: 0 });
    expect((await runDeepSweep()).faults).toEqual([]);
  },
);

test("two at once do not repair the same count twice", async () => {
  await enqueue("a", "b");
  for (const id of ["a", "b"]) await rig.queue().cancel(id);
  await rig.command("HSET", key("tasks"), "~ghosts", "7");
  const others: unknown[] = [];
  const faults = await lookWith({
    "control counts": async () => others.push((await runDeepSweep()).faults[0]?.ids),
  });
  expect([others, faults]).toEqual([[["~ghosts"]], []]);
  expect(await rig.queue().counts()).toMatchObject({ pending: 0 });
});

test("with two at once, an entry put aside between their ends stays counted", async () => {
  await enqueue("a", "b");
  await putAside();
  await lookWith({
    "control counts": async () => {
      await runDeepSweep();
      await putAside();
    },
  });
  expect(await rig.queue().counts()).toMatchObject({ broken: 1 });
  await runDeepSweep();
  expect(await rig.queue().counts()).toMatchObject({ broken: 0 });
});

test("entries put aside after a queue is deleted and created again stay counted", async () => {
  await enqueue("a", "b");
  await putAside();
  await lookWith({ "scan working": () => rig.operator().deleteQueue({ force: true }) });
  expect(await rig.space()).toMatchObject({ pending: [], tasks: new Map() });
  await enqueue("a", "b");
  await putAside();
  expect(await rig.queue().counts()).toMatchObject({ broken: 1 });
});

test("a task that is promoted while it looks, and whose ghost is lost, gets no second place", async () => {
  await enqueue("a");
  await rig.queue().cancel("a");
  await rig.queue().enqueue("anew", { id: "a", again: true, delay: "1s" });
  await rig.command("LREM", key("pending"), "1", "a");
  const promote = async () => {
    rig.now += 1_000;
    await rig.sweepOnce();
  };
  expect(await lookWith({ placeLost: promote })).toEqual([]);
  expect((await rig.space()).pending).toEqual(["a"]);
  expect((await runDeepSweep()).faults).toMatchObject([{ fault: "ghosts_wrong", ids: ["a"] }]);
});

test("the state of a group changes with every change of its tasks, so that an old count is not written", async () => {
  await enqueue({ id: "a", group: "g" }, { id: "b", group: "g" });
  const state = async () => (await rig.space()).tasks.get("~g:g") ?? "";
  const before = await state();
  await rig.queue().cancel("b");
  await enqueue({ id: "c", group: "g" });
  const counted = [{ name: "g", before, state: "1;0=75600,3" }];
  const args = { testNow: String(rig.now), counted: "1" };
  const outcomes = await rig.transport.send([callOf(recountGroupsScript, queueKeys(QUEUE), args, counted)]);
  expect(outcomes).toEqual([{ reply: ["ok", []] }]);
  expect(await rig.operator().groupSettings("g")).toMatchObject({ ready: 2 });
});

test("entries that dequeue puts aside while it looks are left to the next deep sweep", async () => {
  await enqueue("a", "b");
  await putAside();
  expect(await rig.queue().counts()).toMatchObject({ broken: 1 });
  expect(await lookWith({ [LIST]: putAside })).toEqual([]);
  expect(await rig.queue().counts()).toMatchObject({ broken: 1, working: 2 });
  await runDeepSweep();
  expect(await rig.queue().counts()).toMatchObject({ broken: 0, working: 2 });
});

test("a group that changes between its count and the repair is left as it is", async () => {
  await rig.queue().enqueueMany(numbered(600, { group: "g" }, "g"));
  await rig.queue().enqueueMany(numbered(600, { group: "h" }, "h"));
  // If one call can count all its tasks it also repairs; in this group the caller has counted.
  expect(await lookWith({ "recountGroups 1": () => rig.queue().dequeue({ max: 3 }) })).toEqual([]);
  expect(await rig.operator().groupSettings("g")).toMatchObject({ ready: 598, working: 2 });
});
