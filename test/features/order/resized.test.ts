import { beforeEach, expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import { slotOf } from "../../../src/kernel/names/slots.ts";
import type { LeasedTask } from "../../../src/index.ts";
import { instances } from "../../support/instances.ts";
import { useRig } from "../../support/rig.ts";

// Groups in strict order whose slots change hands. order-through-resizes.test.ts has random changes.
const rig = useRig({ checkInvariants: false });
const { instance, dying, queueOf, operatorOf, map, resize, run, fieldsOf } = instances(rig);
const transport = () => linked(instance());
const queue = (partitions?: number) => queueOf<number>(partitions, transport());
const operator = () => operatorOf(undefined, transport());
const sweep = async () => expect((await run(transport())).failed).toEqual([]);
const add = (group: string, name: string, delay = 0) =>
  queue().enqueue(0, { id: `${name}{${group}}`, group, delay });
const names = (tasks: readonly LeasedTask[]) => tasks.map(({ id }) => id.replace(/\{.*/, ""));
const take = () => queue().dequeue({ max: 10 });

/** A group whose slot another partition gets when the queue gets four. */
const GROUP = ["a", "b", "c", "d", "e", "f"].find((name) => slotOf(name) % 4 !== 0) as string;

beforeEach(async () => void (await operator().configure({ order: "strict" })));

test("a group goes on in its new partition when the former one has none of its tasks left", async () => {
  await add(GROUP, "1");
  await add(GROUP, "2");
  const [first] = await take();
  await operator().resize(4);
  await add(GROUP, "3");
  expect(names(await take())).toEqual([]);
  await first?.requeue();
  await sweep();
  const [again] = await take();
  expect(names([again as LeasedTask])).toEqual(["1"]);
  await again?.complete();
  await sweep();
  const [second, ...others] = await take();
  expect([names([second as LeasedTask]), others]).toEqual([["2"], []]);
  await second?.complete();
  await sweep();
  expect(names(await take())).toEqual(["3"]);
});

test("a task that is due in a former partition waits until the group pauses in the new one", async () => {
  await add(GROUP, "late", 60_000);
  await operator().resize(4);
  await add(GROUP, "1");
  await add(GROUP, "2");
  const [first] = await take();
  expect(names([first as LeasedTask])).toEqual(["1"]);
  rig.now += 60_000;
  await sweep();
  expect(names(await take())).toEqual([]);
  await first?.complete();
  await sweep();
  const [late, ...others] = await take();
  expect([names([late as LeasedTask]), others]).toEqual([["late"], []]);
  await late?.complete();
  await sweep();
  expect(names(await take())).toEqual(["2"]);
});

test("a further change waits for groups that wait for a former partition", async () => {
  await add(GROUP, "1");
  const [first] = await take();
  await operator().resize(4);
  await add(GROUP, "2");
  await operator().resize(2);
  expect(await map()).toMatchObject({ isPreparing: true });
  await first?.complete();
  await sweep();
  await sweep();
  expect((await map()).next).toBeUndefined();
  expect(names(await take())).toEqual(["2"]);
});

test("if the caller of a change dies before it has looked, groups begin in their new partition with the next sweep", async () => {
  await add(GROUP, "1");
  const [first] = await take();
  await resize(4, transport());
  await add(GROUP, "2");
  expect(names(await take())).toEqual([]);
  await first?.complete();
  expect(names(await take())).toEqual([]);
  await sweep();
  expect(names(await take())).toEqual(["2"]);
});

test("a group waits for no task in a former partition that was cancelled before its turn", async () => {
  await add(GROUP, "late", 60_000);
  await operator().resize(4);
  await add(GROUP, "1");
  await take();
  rig.now += 60_000;
  await sweep();
  expect(await queue().cancel(`late{${GROUP}}`)).toMatchObject({ ok: true });
  expect(await fieldsOf(`~o:${GROUP}`, 1)).toEqual([null]);
});

test("groups go on after a change that was called off before their partitions knew of it", async () => {
  await add(GROUP, "1");
  const [first] = await take();
  await operator().resize(4);
  await add(GROUP, "2");
  // The caller of the change dies when it has written the map.
  await expect(resize(2, linked(dying(3)))).rejects.toThrow("killed");
  expect((await map()).next).toBeDefined();
  await operator().resize(4);
  expect((await map()).next).toBeUndefined();
  await first?.complete();
  await sweep();
  expect(names(await take())).toEqual(["2"]);
});

test("without the linked edition, no change begins", async () => {
  await expect(resize(4)).rejects.toMatchObject({ code: "newer_schema" });
  expect(await map()).toMatchObject({ isPreparing: true });
  await operator().resize(4);
  expect((await map()).next).toBeUndefined();
});
