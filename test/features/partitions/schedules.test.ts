import { beforeEach, describe, expect, test } from "vitest";
import { databases, type NewSchedule, Schedules, SluiceError, type Transport } from "../../../src/index.ts";
import { slotOf } from "../../../src/kernel/names/slots.ts";
import { instances } from "../../support/instances.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

// Schedules of a queue with partitions. A task with a group is in the partition of its group's slot.

const rig = useRig();
const { instance, dying, between, over, schedulesOf, map, resize, keysIn, textIn, run, ...its } =
  instances(rig);
const MINUTE = 60_000;
const FIRST = START + MINUTE;
const queueOf = () => its.queueOf(4);
const minutely = { every: "1m", from: FIRST, payload: "tick" } as const;

/** A group whose slot a partition owns. */
const groupOf = (partition: number) => textIn(partition, (i) => `customer-${i}`);
/** Puts a schedule with a group of that partition. */
const put = async (name: string, partition: number, more: Partial<NewSchedule<unknown>> = {}) =>
  schedulesOf().put(name, { ...minutely, group: await groupOf(partition), ...more } as NewSchedule<unknown>);
/** Puts schedules `s0` to `s3`, each with a group of that partition. */
const putFour = async () => {
  for (const partition of [0, 1, 2, 3]) await put(`s${partition}`, partition);
};
/** Sweeps at a time, minutes after the first occurrence. */
const sweepAt = (minute: number, transport = instance()) => {
  rig.now = FIRST + minute * MINUTE;
  return run(transport);
};

/** The schedules' tasks that are in Redis, by partition: name and minute. */
async function stored(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (let partition = 0; partition < 8; partition++) {
    const fields = (await rig.command("HKEYS", keysIn(partition).tasks)) as string[];
    const ids = fields.flatMap((field) => {
      const [, name, at] = /^([a-z{}0-9-]+)\.(\d{13})(?:\{\d+\})?$/.exec(field) ?? [];
      return name === undefined ? [] : [`${name} ${(Number(at) - FIRST) / MINUTE}`];
    });
    if (ids.length > 0) found[partition] = ids.toSorted();
  }
  return found;
}

/** The requests of a sweep: it reads the registry, the due schedules, whether they have groups, and the map. */
const ENQUEUE = 5;
const ADVANCE = 6;

beforeEach(() => resize(4));

describe("a schedule whose tasks have a group", () => {
  test("adds them to the partition of the group", async () => {
    const partition = 2;
    const group = await groupOf(partition);
    await put("x", partition, { headers: { from: "é" }, resultTtl: "1m", lease: "7s" });
    rig.now = FIRST;
    const woken: string[] = [];
    const report = await run(instance(), { wake: { wake: (queue) => woken.push(queue) } });
    expect(report).toMatchObject({ scheduled: 1, woken: 1, failed: [], more: false });
    expect(woken).toEqual([QUEUE]);
    expect(await stored()).toEqual({ [partition]: ["x 0"] });
    const [task] = await queueOf().dequeue();
    expect(task).toMatchObject({
      id: expect.stringMatching(new RegExp(`^x\\.${FIRST}\\{\\d+\\}$`)),
      payload: "tick",
      group,
      headers: { from: "é", schedule: "x", "scheduled-at": String(FIRST) },
      deadlineAt: FIRST + 7_000,
    });
    const info = await queueOf().get(task?.id ?? "");
    expect(info).toMatchObject({ state: "working", options: { resultTtl: 60_000 } });
    expect(await schedulesOf().get("x")).toMatchObject({ lastAt: FIRST, nextAt: FIRST + MINUTE });
    await task?.complete();
    expect(await sweepAt(1)).toMatchObject({ scheduled: 1 });
    const times = { lastAt: FIRST + MINUTE, nextAt: FIRST + 2 * MINUTE };
    expect(await schedulesOf().get("x")).toMatchObject(times);
  });

  test("of many groups: each task is with its group, and those without a group in partition 0", async () => {
    for (const [partition, name] of ["a", "b", "c", "d"].entries())
      await put(name, partition, { missed: "all" });
    await schedulesOf().put("plain", { ...minutely, missed: "all" });
    expect(await sweepAt(2)).toMatchObject({ scheduled: 15, failed: [], more: false });
    const three = (name: string) => [0, 1, 2].map((minute) => `${name} ${minute}`);
    expect(await stored()).toEqual({
      0: [...three("a"), ...three("plain")],
      1: three("b"),
      2: three("c"),
      3: three("d"),
    });
  });

  test("may have the group in braces in its name, and nothing else", async () => {
    const group = await groupOf(3);
    const own = new Schedules(QUEUE, over(instance(), 4));
    const misplaced = own.put("daily{other}", { ...minutely, group });
    await expect(misplaced).rejects.toMatchObject({ code: "invalid_argument", path: "name" });
    const name = `daily{${group}}`;
    await own.put(name, { ...minutely, group });
    await put("other", 3);
    // As one from before the queue got partitions.
    const { timetable, schedules } = keysIn(0);
    const [task = "", record = ""] = (await rig.command("HMGET", timetable, "other", ".other")) as string[];
    await rig.command("HSET", timetable, "daily{other}", task, ".daily{other}", record);
    await rig.command("ZADD", schedules, String(FIRST), "daily{other}");
    const failed = [{ queue: QUEUE, code: "invalid_argument" }];
    expect(await sweepAt(0)).toMatchObject({ scheduled: 2, failed });
    expect(await stored()).toEqual({ 3: [`${name} 0`, "other 0"] });
    expect(await sweepAt(1)).toMatchObject({ scheduled: 2, failed });
  });

  test("stops at the limit of its partition, and goes on later, while others go on at once", async () => {
    await put("x", 1, { missed: "all" });
    await put("y", 2, { missed: "all" });
    // The partition's share.
    await rig.command("HSET", keysIn(1).tasks, "~set", "1;b=2;v=1");
    const full = [{ queue: QUEUE, code: "queue_full" }];
    expect(await sweepAt(3)).toMatchObject({ scheduled: 6, failed: full });
    expect(await stored()).toEqual({ 1: ["x 0", "x 1"], 2: ["y 0", "y 1", "y 2", "y 3"] });
    const times = { lastAt: FIRST + MINUTE, nextAt: FIRST + 2 * MINUTE };
    expect(await schedulesOf().get("x")).toMatchObject(times);
    await rig.command("HDEL", keysIn(1).tasks, "~set");
    expect(await run()).toMatchObject({ scheduled: 2, failed: [] });
    expect(await stored()).toMatchObject({ 1: ["x 0", "x 1", "x 2", "x 3"] });
  });

  test("goes on also if its tasks do not fit into one request", async () => {
    const payload = "x".repeat(1_000_000);
    await put("x", 1, { payload, missed: "all" });
    await put("y", 2, { payload, missed: "all" });
    expect(await sweepAt(11)).toMatchObject({ scheduled: 24, failed: [], more: false });
    const all = (name: string) => Array.from({ length: 12 }, (_, minute) => `${name} ${minute}`).toSorted();
    expect(await stored()).toEqual({ 1: all("x"), 2: all("y") });
  });
});

describe("a sweep that stops in the middle", () => {
  test.each([1, 2, 3, 4, ENQUEUE, ADVANCE, 7].flatMap((at) => [[at, false] as const, [at, true] as const]))(
    "at its request %i (which ran: %s) loses no occurrence and repeats none (law 5)",
    async (at, ran) => {
      await put("x", 2);
      await expect(sweepAt(0, dying(at, ran))).rejects.toThrow("killed");
      await run();
      expect(await stored()).toEqual({ 2: ["x 0"] });
      expect(await sweepAt(1)).toMatchObject({ scheduled: 1 });
      expect(await stored()).toEqual({ 2: ["x 0", "x 1"] });
    },
  );

  test("after the task was added: the next one within two days knows it, also if it has ended", async () => {
    await put("x", 2, { every: "30d", resultTtl: 0 });
    await expect(sweepAt(0, dying(ADVANCE))).rejects.toThrow("killed");
    const [task] = await queueOf().dequeue();
    await task?.complete();
    // Sweeps that run no schedules remove what has expired.
    await rig.command("ZREM", "sluice:queues", `~${QUEUE}/0`);
    for (let hours = 0; hours < 47; hours++) {
      rig.now += 60 * MINUTE;
      await run();
    }
    expect(await queueOf().get(task?.id ?? "")).toBe(null);
    await rig.command("ZADD", "sluice:queues", String(FIRST), `~${QUEUE}/0`);
    expect(await run()).toMatchObject({ scheduled: 0, failed: [] });
    expect(await queueOf().dequeue()).toHaveLength(0);
    const times = { lastAt: FIRST, nextAt: FIRST + 30 * 24 * 60 * MINUTE };
    expect(await schedulesOf().get("x")).toMatchObject(times);
  });

  test("and a resize before the next one: the former partition knows the occurrence", async () => {
    await putFour();
    await expect(sweepAt(0, dying(ADVANCE))).rejects.toThrow("killed");
    await resize(2);
    expect(await run()).toMatchObject({ scheduled: 0, failed: [] });
    expect(await stored()).toEqual({ 0: ["s0 0"], 1: ["s1 0"], 2: ["s2 0"], 3: ["s3 0"] });
  });
});

test("each request may arrive twice, and copies may come late (law 5)", async () => {
  for (const partition of [0, 1, 2, 3]) await put(`s${partition}`, partition, { missed: "all" });
  const sent: Parameters<Transport["send"]>[] = [];
  const twice: Transport = {
    async send(...request) {
      sent.push(request);
      await rig.transport.send(...request);
      return rig.transport.send(...request);
    },
  };
  const first = await sweepAt(1, twice);
  // A copy that finds the schedules moved on leaves the reminder to the next sweep.
  const second = await sweepAt(2, twice);
  expect([first, second].flatMap(({ failed }) => failed)).toEqual([]);
  for (const late of sent) await rig.transport.send(...late);
  await run();
  const expected = [0, 1, 2, 3].map((i) => [i, [0, 1, 2].map((minute) => `s${i} ${minute}`)]);
  expect(await stored()).toEqual(Object.fromEntries(expected));
  for (let i = 0; i < 4; i++) {
    const { lastAt, nextAt } = (await schedulesOf().get(`s${i}`)) ?? {};
    expect({ lastAt, nextAt }).toEqual({ lastAt: FIRST + 2 * MINUTE, nextAt: FIRST + 3 * MINUTE });
  }
});

test("if a database cannot be reached, only the schedules of its partitions wait", async () => {
  await putFour();
  const down: Transport = {
    send: () => Promise.reject(new SluiceError("redis_unreachable", "the database is down")),
  };
  const report = await sweepAt(0, databases([instance(), down]));
  expect(report).toMatchObject({ scheduled: 2, failed: [{ queue: QUEUE, code: "redis_unreachable" }] });
  expect(await stored()).toEqual({ 0: ["s0 0"], 2: ["s2 0"] });
  expect(await schedulesOf().get("s2")).toMatchObject({ lastAt: FIRST });
  expect(await schedulesOf().get("s3")).toMatchObject({ lastAt: null, nextAt: FIRST });
  expect(await run(databases([instance(), instance()]))).toMatchObject({ scheduled: 2, failed: [] });
  expect(await stored()).toEqual({ 0: ["s0 0"], 1: ["s1 0"], 2: ["s2 0"], 3: ["s3 0"] });
});

describe("at the same time as a sweep", () => {
  test.each([1, 2])(
    "in front of request %i: a schedule that is paused or removed does not occur",
    async (at) => {
      await put("x", 2);
      await put("y", 2);
      const ending = between(at, async () => {
        await schedulesOf().pause("x");
        await schedulesOf().remove("y");
      });
      await sweepAt(0, ending);
      expect(await stored()).toEqual({});
    },
  );

  test.each([
    {
      how: "written goes on in its new form",
      change: () => schedulesOf().put("x", { every: "7m", from: FIRST + 7 * MINUTE, payload: 2 }),
      becomes: { nextAt: FIRST + 7 * MINUTE, lastAt: null },
    },
    {
      how: "paused and resumed does not make up for the pause",
      change: async () => {
        await schedulesOf().pause("x");
        await schedulesOf().resume("x");
      },
      becomes: { nextAt: FIRST + MINUTE },
    },
  ])("while the task is added: a schedule that is $how", async ({ change, becomes }) => {
    await put("x", 2);
    rig.now = FIRST + 1;
    await run(between(ADVANCE, change));
    await run();
    expect(await stored()).toEqual({ 2: ["x 0"] });
    expect(await schedulesOf().get("x")).toMatchObject(becomes);
  });

  test.each([1, 2, 3, 4, ENQUEUE, ADVANCE].flatMap((at) => [8, 2, 1].map((count) => [at, count] as const)))(
    "in front of request %i: a resize to %i partitions loses no occurrence, and repeats none",
    async (at, count) => {
      const groups = await Promise.all([0, 1, 2, 3].map(groupOf));
      await putFour();
      const first = await sweepAt(
        0,
        between(at, () => resize(count)),
      );
      const second = await run();
      expect([first, second].flatMap(({ failed }) => failed)).toEqual([]);
      expect(first.scheduled + second.scheduled).toBe(4);
      await sweepAt(1);
      const all = Object.values(await stored()).flat();
      expect(all.toSorted()).toEqual([0, 1, 2, 3].flatMap((i) => [`s${i} 0`, `s${i} 1`]));
      // What is added after the resize is with the new tasks of its group.
      const { owners } = await map();
      for (const [i, group] of groups.entries())
        expect((await stored())[owners[slotOf(group)] as number]).toContain(`s${i} 1`);
    },
  );
});
