import { beforeEach, expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import { slotOf } from "../../../src/kernel/names/slots.ts";
import { deepSweep, type LeasedTask } from "../../../src/index.ts";
import { instances } from "../../support/instances.ts";
import { useRig } from "../../support/rig.ts";

// What says that a line waits for another partition is removed by hand. A deep sweep holds the line again.
const rig = useRig({ checkInvariants: false });
const { instance, queueOf, operatorOf, run, keysIn, map } = instances(rig);
const transport = () => linked(instance());
const queue = () => queueOf<number>(undefined, transport());
const operator = () => operatorOf(undefined, transport());
const add = (name: string, delay = 0) => queue().enqueue(0, { id: `${name}{${GROUP}}`, group: GROUP, delay });
const take = () => queue().dequeue({ max: 10 });
const repair = async () =>
  (await deepSweep(transport(), { now: () => rig.now })).faults.map(({ fault }) => fault);

/** A group that is in partition 0, and in another one of four. */
const GROUP = ["a", "b", "c", "d", "e", "f"].find((name) => slotOf(name) % 4 !== 0) as string;
/** The one that it is in then. */
const owner = async () => (await map()).owners[slotOf(GROUP)] as number;

/** Works until nothing is left: of the group one task at a time. */
async function finish(begun: readonly LeasedTask[], count: number): Promise<string[]> {
  const ended: string[] = [];
  for (let tasks = begun, rounds = 0; ended.length < count && rounds < 20; rounds++) {
    expect(tasks.length).toBeLessThan(2);
    for (const task of tasks) {
      await task.complete();
      ended.push(task.id.charAt(0));
    }
    expect((await run(transport())).failed).toEqual([]);
    rig.now += 60_000;
    tasks = await take();
  }
  return ended;
}

async function forget(partition: number): Promise<void> {
  expect(await rig.command("HDEL", keysIn(partition).tasks, `~o:${GROUP}`)).toBe(1);
}

beforeEach(async () => void (await operator().configure({ order: "strict" })));

test("in the new partition, while the former one has tasks", async () => {
  for (const name of ["1", "2"]) await add(name);
  const begun = await take();
  await operator().resize(4);
  for (const name of ["3", "4"]) await add(name);
  await forget(await owner());
  expect(await repair()).not.toEqual([]);
  expect(await take()).toHaveLength(0);
  expect(await finish(begun, 4)).toEqual(["1", "2", "3", "4"]);
});

test("in the former partition, while the new one has the turn", async () => {
  await add("5", 60_000);
  await add("6", 60_000);
  await operator().resize(4);
  for (const name of ["1", "2"]) await add(name);
  const begun = await take();
  rig.now += 60_000;
  await run(transport());
  await forget(0);
  await rig.command("ZREM", keysIn(0).fairByGroup, `~~~${GROUP}`);
  expect(await repair()).not.toEqual([]);
  expect(await take()).toHaveLength(0);
  // The turn is passed on when the partition that has it pauses.
  expect((await finish(begun, 4)).join("")).toMatch(/^1(256|562|526)$/);
});

test("a hold for a partition that has left the queue is lifted", async () => {
  await add("1");
  await operator().resize(4);
  const [first] = await take();
  await first?.complete();
  for (let i = 0; (await map()).former.length > 0 && i < 20; i++) {
    rig.now += 3_600_000;
    await run(transport());
  }
  const { tasks, fairByGroup } = keysIn(await owner());
  await rig.command("HSET", tasks, `~o:${GROUP}`, "1;0;0;0;h0,v1;");
  await rig.command("ZADD", fairByGroup, "0", `~~~${GROUP}`);
  await add("2");
  expect(await take()).toHaveLength(0);
  await run(transport());
  expect(await take()).toHaveLength(0);
  await repair();
  expect((await take()).map(({ id }) => id.charAt(0))).toEqual(["2"]);
});
