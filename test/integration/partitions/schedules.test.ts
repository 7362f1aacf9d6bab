import { nameOfPartition, queueKeys } from "../../../src/queue/core/keys.ts";
import { beforeEach, describe, expect, test } from "vitest";
import {
  databases,
  Operator,
  Queue,
  Schedules,
  SluiceError,
  sweep,
  type SweepReport,
} from "../../../src/index.ts";
import { encryption } from "../../../src/queue/values/aes-gcm.ts";
import { slotOf } from "../../../src/queue/core/partition-slots.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import type { Command, Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

// Schedules of a queue with partitions. A task with a group is in the partition of its group's slot.

const rig = useRig();
const MINUTE = 60_000;
const FIRST = START + MINUTE;
const now = () => rig.now;
const instance = (): Transport => ({ send: (commands, options) => rig.transport.send(commands, options) });
const queueOf = (transport = instance()) => new Queue(QUEUE, { transport, partitions: 4, now });
const schedules = () => new Schedules(QUEUE, { transport: instance(), now });
const place = () => ({ name: QUEUE, prefix: undefined, transport: rig.transport, now, copySettings });
const resize = (count: number) => resizeQueue(place(), count);
const run = (transport = instance()) => sweep(transport, { now });
const minutely = { every: "1m", from: FIRST, payload: "tick" } as const;

/** A group whose slot a partition owns. */
async function groupOf(partition: number): Promise<string> {
  const { owners } = await fetchMap(place());
  for (let i = 0; ; i++) if (owners[slotOf(`customer-${i}`)] === partition) return `customer-${i}`;
}

/** The schedules' tasks that are in Redis, by partition: name and minute. */
async function stored(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (let partition = 0; partition < 8; partition++) {
    const { tasks } = queueKeys(nameOfPartition(QUEUE, partition));
    const fields = (await rig.command("HKEYS", tasks)) as string[];
    const ids = fields
      .map((field) => /^([a-z{}0-9-]+)\.(\d{13})(?:\{\d+\})?$/.exec(field))
      .filter((match) => match);
    if (ids.length > 0)
      found[partition] = ids
        .map((match) => `${match?.[1]} ${(Number(match?.[2]) - FIRST) / MINUTE}`)
        .toSorted();
  }
  return found;
}

/** A transport that fails at one of its requests, which may have run. */
function dying(at: number, ran: boolean): Transport {
  let sent = 0;
  return {
    async send(commands: readonly Command[], options) {
      if (sent++ < at) return rig.transport.send(commands, options);
      if (ran) await rig.transport.send(commands, options);
      throw new Error("killed");
    },
  };
}

/** Runs `then` in front of a request of a sweep. */
function between(requests: number, then: () => Promise<unknown>): Transport {
  let sent = 0;
  return {
    async send(commands, options) {
      if (sent++ === requests) await then();
      return rig.transport.send(commands, options);
    },
  };
}

const added = (reports: readonly SweepReport[]) => reports.reduce((sum, { scheduled }) => sum + scheduled, 0);

/** The requests of a sweep: it reads the registry, the due schedules, whether they have groups, and the map. */
const ENQUEUE = 5;
const ADVANCE = 6;

describe("a schedule whose tasks have a group", () => {
  beforeEach(() => resize(4));

  test.each([0, 1, 2, 3])("adds them to the partition of the group (%i)", async (partition) => {
    const group = await groupOf(partition);
    await schedules().put("x", { ...minutely, group, headers: { from: "é" }, resultTtl: "1m", lease: "7s" });
    rig.now = FIRST;
    const woken: string[] = [];
    const wake = { wake: async (queue: string) => void woken.push(queue) };
    const report = await sweep(instance(), { now, wake });
    expect(report).toMatchObject({ scheduled: 1, woken: 1, failed: [], more: false });
    expect(woken).toEqual([QUEUE]);
    expect(await stored()).toEqual({ [partition]: ["x 0"] });
    const [task] = await queueOf().dequeue();
    expect(task).toMatchObject({
      payload: "tick",
      group,
      headers: { from: "é", schedule: "x", "scheduled-at": String(FIRST) },
      deadlineAt: FIRST + 7_000,
    });
    expect(task?.id).toMatch(new RegExp(`^x\\.${FIRST}\\{\\d+\\}$`));
    expect(await queueOf().get(task?.id ?? "")).toMatchObject({
      state: "working",
      options: { resultTtl: 60_000 },
    });
    expect(await schedules().get("x")).toMatchObject({ lastAt: FIRST, nextAt: FIRST + MINUTE });
    await task?.complete();
    rig.now += MINUTE;
    expect(await run()).toMatchObject({ scheduled: 1 });
    expect(await schedules().get("x")).toMatchObject({ lastAt: FIRST + MINUTE, nextAt: FIRST + 2 * MINUTE });
  });

  test("keeps their order, and one at a time, with tasks that producers enqueue", async () => {
    const group = await groupOf(2);
    await new Operator(QUEUE, { transport: instance(), partitions: 4, now }).configureGroup(group, {
      maxWorking: 1,
    });
    await schedules().put("x", { ...minutely, group });
    const order: unknown[] = [];
    for (let minute = 0; minute < 3; minute++) {
      await queueOf().enqueue(`before ${minute}`, { group });
      rig.now = FIRST + minute * MINUTE;
      await run();
      await queueOf().enqueue(`after ${minute}`, { group });
    }
    for (;;) {
      const tasks = await queueOf().dequeue({ max: 10 });
      if (tasks.length === 0) break;
      expect(tasks.length).toBe(1);
      order.push(tasks[0]?.payload);
      await tasks[0]?.complete();
    }
    expect(order).toEqual([0, 1, 2].flatMap((minute) => [`before ${minute}`, "tick", `after ${minute}`]));
  });

  test("of many groups: each task is with its group, and those without a group in partition 0", async () => {
    const names = ["a", "b", "c", "d"];
    for (const [partition, name] of names.entries())
      await schedules().put(name, { ...minutely, missed: "all", group: await groupOf(partition) });
    await schedules().put("plain", { ...minutely, missed: "all" });
    rig.now = FIRST + 2 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 15, failed: [], more: false });
    const three = (name: string) => [0, 1, 2].map((minute) => `${name} ${minute}`);
    expect(await stored()).toEqual({
      0: [...three("a"), ...three("plain")],
      1: three("b"),
      2: three("c"),
      3: three("d"),
    });
  });

  test("has an encrypted payload that its consumers can read", async () => {
    const secret = { encryption: encryption({ keys: { k: `${"A".repeat(43)}=` }, current: "k" }) };
    const own = new Schedules(QUEUE, { transport: instance(), now, ...secret });
    await own.put("x", { ...minutely, group: await groupOf(1) });
    rig.now = FIRST;
    await run();
    const [task] = await new Queue(QUEUE, { transport: instance(), partitions: 4, now, ...secret }).dequeue();
    expect(task?.payload).toBe("tick");
  });

  test("may have the group in braces in its name, and nothing else", async () => {
    const group = await groupOf(3);
    const own = new Schedules(QUEUE, { transport: instance(), now, partitions: 4 });
    await expect(own.put("daily{other}", { ...minutely, group })).rejects.toMatchObject({
      code: "invalid_argument",
      path: "name",
    });
    const name = `daily{${group}}`;
    await own.put(name, { ...minutely, group });
    await schedules().put("other", { ...minutely, group });
    // As one from before the queue got partitions.
    const [timetable, fields] = [`sluice:{${QUEUE}}/0:timetable`, ["other", ".other"]];
    const [task, record] = (await rig.command("HMGET", timetable, ...fields)) as string[];
    await rig.command("HSET", timetable, "daily{other}", task ?? "", ".daily{other}", record ?? "");
    await rig.command("ZADD", `sluice:{${QUEUE}}/0:schedules`, String(FIRST), "daily{other}");
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 2, failed: [{ queue: QUEUE, code: "invalid_argument" }] });
    expect(await stored()).toEqual({ 3: [`${name} 0`, "other 0"] });
    rig.now += MINUTE;
    expect(await run()).toMatchObject({ scheduled: 2, failed: [{ queue: QUEUE, code: "invalid_argument" }] });
  });

  test("stops at the limit of its partition, and goes on later, while others go on at once", async () => {
    await schedules().put("x", { ...minutely, missed: "all", group: await groupOf(1) });
    await schedules().put("y", { ...minutely, missed: "all", group: await groupOf(2) });
    // The partition's share.
    await rig.command("HSET", `sluice:{${QUEUE}/1}:tasks`, "~set", "1;b=2;v=1");
    rig.now = FIRST + 3 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 6, failed: [{ queue: QUEUE, code: "queue_full" }] });
    expect(await stored()).toEqual({ 1: ["x 0", "x 1"], 2: ["y 0", "y 1", "y 2", "y 3"] });
    expect(await schedules().get("x")).toMatchObject({ lastAt: FIRST + MINUTE, nextAt: FIRST + 2 * MINUTE });
    await rig.command("HDEL", `sluice:{${QUEUE}/1}:tasks`, "~set");
    expect(await run()).toMatchObject({ scheduled: 2, failed: [] });
    expect(await stored()).toMatchObject({ 1: ["x 0", "x 1", "x 2", "x 3"] });
  });

  test("goes on also if its tasks do not fit into one request", async () => {
    const payload = "x".repeat(1_000_000);
    await schedules().put("x", { ...minutely, payload, missed: "all", group: await groupOf(1) });
    await schedules().put("y", { ...minutely, payload, missed: "all", group: await groupOf(2) });
    rig.now = FIRST + 11 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 24, failed: [], more: false });
    const all = (name: string) => Array.from({ length: 12 }, (_, minute) => `${name} ${minute}`).toSorted();
    expect(await stored()).toEqual({ 1: all("x"), 2: all("y") });
  });

  test("that ends or is paused adds no more", async () => {
    const group = await groupOf(1);
    await schedules().put("x", { ...minutely, until: FIRST + MINUTE, group });
    await schedules().put("y", { ...minutely, group });
    await schedules().pause("y");
    for (let minute = 0; minute < 4; minute++) {
      rig.now = FIRST + minute * MINUTE;
      await run();
    }
    expect(await stored()).toEqual({ 1: ["x 0", "x 1"] });
    expect(await schedules().get("x")).toMatchObject({ nextAt: null, lastAt: FIRST + MINUTE });
  });
});

describe("a sweep that stops in the middle", () => {
  beforeEach(() => resize(4));

  test.each([1, 2, 3, 4, ENQUEUE, ADVANCE, 7].flatMap((at) => [[at, false] as const, [at, true] as const]))(
    "at its request %i (which ran: %s) loses no occurrence and repeats none (law 5)",
    async (at, ran) => {
      await schedules().put("x", { ...minutely, group: await groupOf(2) });
      rig.now = FIRST;
      await expect(run(dying(at, ran))).rejects.toThrow("killed");
      await run();
      expect(await stored()).toEqual({ 2: ["x 0"] });
      rig.now += MINUTE;
      expect(await run()).toMatchObject({ scheduled: 1 });
      expect(await stored()).toEqual({ 2: ["x 0", "x 1"] });
    },
  );

  test("after the task was added: the next one within two days knows it, also if it has ended", async () => {
    await schedules().put("x", {
      every: "30d",
      from: FIRST,
      payload: 1,
      resultTtl: 0,
      group: await groupOf(2),
    });
    rig.now = FIRST;
    await expect(run(dying(ADVANCE, false))).rejects.toThrow("killed");
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
    expect(await schedules().get("x")).toMatchObject({
      lastAt: FIRST,
      nextAt: FIRST + 30 * 24 * 60 * MINUTE,
    });
  });

  test("leaves an occurrence that was missed for one later: each is added once", async () => {
    await schedules().put("x", { ...minutely, group: await groupOf(2) });
    rig.now = FIRST;
    await expect(run(dying(ADVANCE, false))).rejects.toThrow("killed");
    rig.now += 3 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 1 });
    expect(await stored()).toEqual({ 2: ["x 0", "x 3"] });
  });
});

test("each request may arrive twice, and copies may come late (law 5)", async () => {
  await resize(4);
  for (let i = 0; i < 4; i++)
    await schedules().put(`s${i}`, { ...minutely, missed: "all", group: await groupOf(i) });
  const sent: Parameters<Transport["send"]>[] = [];
  const twice: Transport = {
    async send(commands, options) {
      sent.push([commands, options]);
      await rig.transport.send(commands, options);
      return rig.transport.send(commands, options);
    },
  };
  rig.now = FIRST + MINUTE;
  const first = await run(twice);
  // A copy that finds the schedules moved on leaves the reminder to the next sweep.
  rig.now += MINUTE;
  const second = await run(twice);
  expect([first, second].flatMap(({ failed }) => failed)).toEqual([]);
  for (const late of sent) await rig.transport.send(...late);
  await run();
  const expected = [0, 1, 2, 3].map((i) => [i, [0, 1, 2].map((minute) => `s${i} ${minute}`)]);
  expect(await stored()).toEqual(Object.fromEntries(expected));
  for (let i = 0; i < 4; i++) {
    const { lastAt, nextAt } = (await schedules().get(`s${i}`)) ?? {};
    expect({ lastAt, nextAt }).toEqual({ lastAt: FIRST + 2 * MINUTE, nextAt: FIRST + 3 * MINUTE });
  }
});

test("if a database cannot be reached, only the schedules of its partitions wait", async () => {
  await resize(4);
  for (let i = 0; i < 4; i++) await schedules().put(`s${i}`, { ...minutely, group: await groupOf(i) });
  const down: Transport = {
    send: () => Promise.reject(new SluiceError("redis_unreachable", "the database is down")),
  };
  rig.now = FIRST;
  const report = await run(databases([instance(), down]));
  expect(report).toMatchObject({ scheduled: 2, failed: [{ queue: QUEUE, code: "redis_unreachable" }] });
  expect(await stored()).toEqual({ 0: ["s0 0"], 2: ["s2 0"] });
  expect(await schedules().get("s2")).toMatchObject({ lastAt: FIRST });
  expect(await schedules().get("s3")).toMatchObject({ lastAt: null, nextAt: FIRST });
  expect(await run(databases([instance(), instance()]))).toMatchObject({ scheduled: 2, failed: [] });
  expect(await stored()).toEqual({ 0: ["s0 0"], 1: ["s1 0"], 2: ["s2 0"], 3: ["s3 0"] });
});

describe("at the same time as a sweep", () => {
  beforeEach(() => resize(4));

  test("other sweeps: each occurrence is added once, and counted once", async () => {
    for (let i = 0; i < 12; i++)
      await schedules().put(`s${i}`, { ...minutely, missed: "all", group: `customer-${i}` });
    let scheduled = 0;
    for (let minute = 0; minute < 6; minute += 2) {
      rig.now = FIRST + minute * MINUTE;
      const reports = await Promise.all(Array.from({ length: 6 }, () => run()));
      expect(reports.flatMap(({ failed }) => failed)).toEqual([]);
      scheduled += added(reports);
    }
    expect(scheduled).toBe(12 * 5);
    const all = Object.values(await stored()).flat();
    expect(all.toSorted()).toEqual(
      Array.from({ length: 12 }, (_, i) => [0, 1, 2, 3, 4].map((minute) => `s${i} ${minute}`))
        .flat()
        .toSorted(),
    );
  });

  test.each([1, 2])(
    "in front of request %i: a schedule that is paused or removed does not occur",
    async (at) => {
      const group = await groupOf(2);
      await schedules().put("x", { ...minutely, group });
      await schedules().put("y", { ...minutely, group });
      rig.now = FIRST;
      await run(
        between(at, async () => {
          await schedules().pause("x");
          await schedules().remove("y");
        }),
      );
      expect(await stored()).toEqual({});
    },
  );

  test("while the task is added: a schedule that is written goes on in its new form", async () => {
    const group = await groupOf(2);
    await schedules().put("x", { ...minutely, group });
    rig.now = FIRST;
    await run(
      between(ADVANCE, () => schedules().put("x", { every: "7m", from: FIRST + 7 * MINUTE, payload: 2 })),
    );
    expect(await stored()).toEqual({ 2: ["x 0"] });
    expect(await schedules().get("x")).toMatchObject({ nextAt: FIRST + 7 * MINUTE, lastAt: null });
    await run();
    rig.now = FIRST + 7 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 1 });
  });

  test("while the task is added: a schedule that is paused and resumed does not make up for the pause", async () => {
    await schedules().put("x", { ...minutely, group: await groupOf(2) });
    rig.now = FIRST + 1;
    await run(
      between(ADVANCE, async () => {
        await schedules().pause("x");
        await schedules().resume("x");
      }),
    );
    await run();
    expect(await stored()).toEqual({ 2: ["x 0"] });
    expect(await schedules().get("x")).toMatchObject({ nextAt: FIRST + MINUTE });
  });

  test.each([1, 2, 3, 4, ENQUEUE, ADVANCE].flatMap((at) => [8, 2, 1].map((count) => [at, count] as const)))(
    "in front of request %i: a resize to %i partitions loses no occurrence, and repeats none",
    async (at, count) => {
      const groups = await Promise.all([0, 1, 2, 3].map(groupOf));
      for (const [i, group] of groups.entries()) await schedules().put(`s${i}`, { ...minutely, group });
      rig.now = FIRST;
      const first = await run(between(at, () => resize(count)));
      const second = await run();
      expect([first, second].flatMap(({ failed }) => failed)).toEqual([]);
      expect(added([first, second])).toBe(4);
      rig.now += MINUTE;
      await run();
      const all = Object.values(await stored()).flat();
      expect(all.toSorted()).toEqual([0, 1, 2, 3].flatMap((i) => [`s${i} 0`, `s${i} 1`]));
      // What is added after the resize is with the new tasks of its group.
      const { owners } = await fetchMap(place());
      for (const [i, group] of groups.entries()) {
        const owner = owners[slotOf(group)] as number;
        expect((await stored())[owner]).toContain(`s${i} 1`);
      }
    },
  );
});

test("a resize between the two halves of a sweep that stopped: the former partition knows the occurrence", async () => {
  await resize(4);
  const groups = await Promise.all([0, 1, 2, 3].map(groupOf));
  for (const [i, group] of groups.entries()) await schedules().put(`s${i}`, { ...minutely, group });
  rig.now = FIRST;
  await expect(run(dying(ADVANCE, false))).rejects.toThrow("killed");
  await resize(2);
  expect(await run()).toMatchObject({ scheduled: 0, failed: [] });
  expect(await stored()).toEqual({ 0: ["s0 0"], 1: ["s1 0"], 2: ["s2 0"], 3: ["s3 0"] });
});

test("the first partitions of a queue: its schedules with a group go on, before and after the change", async () => {
  const unpartitioned = new Queue(QUEUE, { transport: instance(), now });
  await unpartitioned.enqueue("old");
  await schedules().put("x", { ...minutely, group: "customer-1" });
  rig.now = FIRST;
  expect(await run()).toMatchObject({ scheduled: 1 });
  await resize(4);
  for (let minute = 1; minute < 5; minute++) {
    rig.now = FIRST + minute * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 1, failed: [] });
  }
  const owner = (await fetchMap(place())).owners[slotOf("customer-1")] as number;
  expect(owner).not.toBe(0);
  expect(await stored()).toEqual({ 0: ["x 0"], [owner]: ["x 1", "x 2", "x 3", "x 4"] });
});
