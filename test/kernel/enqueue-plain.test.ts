import { describe, expect, test } from "vitest";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { bothLanes, byLane } from "../support/both-lanes.ts";
import { byBothScripts, byFullScript, byPlainScript, type PlainItem } from "../support/plain-enqueue.ts";
import { QUEUE, START, useRig } from "../support/rig.ts";

const rig = useRig();
const keys = queueKeys(QUEUE);
const at = { testNow: String(START) };
const WAKE = { ...at, wake: "60000" };

const items = (count: number, record = "\nj1"): PlainItem[] =>
  Array.from({ length: count }, (_, i) => ({ id: `id${i}`, record }));
const own = (token: string) => [{ id: "a", record: `;t=${token}\nj1` }];

describe("enqueue-plain leaves the same data as enqueue", () => {
  test.each([
    ["one task", items(1), at],
    ["one task, with a look at the settings", items(1), { ...at, withSettings: "1" }],
    ["several tasks", items(3), at],
    ["as many as it takes", items(490), at],
    ["tasks with options", items(2, ";t=abc;l=1000;m=3;r=0;U=1000;h=2\n{}j1"), at],
    ["one task that wakes", items(1), WAKE],
    ["several tasks that wake", items(3), WAKE],
    ["as many as it takes, that wake", items(490), WAKE],
  ])("%s", async (_, given, args) => {
    const transport = bothLanes(rig.transport);
    const answer = await byBothScripts(transport, keys, given, args);
    expect(answer).toEqual({ created: given.map(() => true), wake: args === WAKE });
    // A consumer counts as awake now.
    const more = await byBothScripts(transport, keys, [{ id: "more", record: "\nj2" }], args);
    expect(more).toEqual({ created: [true], wake: false });
    const { plain, full } = byLane(await rig.keySpace());
    expect(plain).toEqual(full);
    const tasks = await rig.queue().dequeue({ max: 1_000 });
    expect(tasks.map(({ id }) => id)).toEqual([...given.map(({ id }) => id), "more"]);
  });
});

describe("enqueue-plain writes nothing, and enqueue decides", () => {
  const one = items(1);
  const two = items(2);

  test.each<[string, () => Promise<unknown>, readonly PlainItem[], Parameters<typeof byPlainScript>[3]]>([
    [
      "the queue has a setting that concerns enqueues",
      () => rig.operator().configure({ maxPending: 9 }),
      two,
      at,
    ],
    [
      "a queue whose settings are asked for has such a one",
      () => rig.operator().configure({ events: true }),
      one,
      { ...at, withSettings: "1" },
    ],
    ["the task would wake a consumer, and the queue is paused", () => rig.operator().pause(), one, WAKE],
    ["a task is known", () => rig.queue().enqueue(1, { id: "id0" }), one, at],
    ["one of the tasks is known", () => rig.queue().enqueue(1, { id: "id1" }), two, at],
    ["one of the tasks is completed", complete, two, WAKE],
    ["an id is given twice", async () => {}, [...one, ...one], at],
  ])("if %s", async (_, prepare, given, args) => {
    await prepare();
    const before = await rig.keySpace();
    expect(await byPlainScript(rig.transport, keys, given, args)).toBeUndefined();
    expect(await rig.keySpace()).toEqual(before);
  });

  test("but adds tasks to a queue with settings that only concern dequeues", async () => {
    await rig.operator().configure({ maxWorking: 1, rate: { most: 1, per: "1s" } });
    await rig.operator().pause();
    expect(await byPlainScript(rig.transport, keys, two, at)).toMatchObject({ created: [true, true] });
    expect((await rig.space()).pending).toHaveLength(2);
  });

  async function complete() {
    await rig.queue().enqueue(1, { id: "id1" });
    await (await rig.queue().dequeue())[0]?.complete();
  }

  test.each([
    ["one task", one, at],
    ["several tasks", two, at],
    ["one that would wake", one, WAKE],
  ])("if Redis is full: %s", async (_, given, args) => {
    await rig.command("CONFIG", "SET", "maxmemory", "1");
    try {
      expect(await byPlainScript(rig.transport, keys, given, args)).toBeUndefined();
      await expect(byFullScript(rig.transport, keys, given, args)).rejects.toThrow(/OOM|memory|room/);
      expect(await rig.keySpace()).toEqual({});
    } finally {
      await rig.command("CONFIG", "SET", "maxmemory", "0");
    }
  });
});

describe("for half of the window after a consumer counted as awake", () => {
  const trusting = { ...WAKE, ifEmpty: "1" };
  const add = (id: string) => byPlainScript(rig.transport, keys, [{ id, record: "\nj1" }], trusting);

  test("a task wakes one only if none waited before it, and none counts as awake", async () => {
    expect(await add("a")).toEqual({ created: [true], wake: true });
    expect(await add("b")).toEqual({ created: [true], wake: false });
    await rig.command("HDEL", keys.tasks, "~wake");
    expect(await add("c")).toEqual({ created: [true], wake: false });
    await rig.queue().dequeue({ max: 3 });
    // The consumer finds nothing more.
    await rig.queue().dequeue();
    expect(await add("d")).toEqual({ created: [true], wake: true });
    await rig.queue().dequeue();
    await rig.operator().pause();
    await rig.command("HDEL", keys.tasks, "~wake");
    expect(await add("e")).toEqual({ created: [true], wake: false });
  });
});

describe("a copy of either script after the other gets the same answer, and adds nothing (law 5)", () => {
  const scripts = { "enqueue-plain": byBothScripts, enqueue: byFullScript };
  const names = Object.keys(scripts) as (keyof typeof scripts)[];

  test.each(names.flatMap((first) => names.map((second) => [second, first] as const)))(
    "%s after %s",
    async (second, first) => {
      for (const given of [own("mine"), [...own("mine"), ...items(2)]]) {
        await rig.command("FLUSHALL");
        const answer = await scripts[first](rig.transport, keys, given, WAKE);
        expect(answer).toEqual({ created: given.map(() => true), wake: true });
        const before = await rig.keySpace();
        // The wake may be lost with the answer, so the copy asks for it again.
        expect(await scripts[second](rig.transport, keys, given, WAKE)).toEqual(answer);
        expect(await rig.keySpace()).toEqual(before);
        const others = own("other");
        expect((await scripts[second](rig.transport, keys, others, at)).created).toEqual([false]);
        expect(await rig.keySpace()).toEqual(before);
      }
    },
  );
});
