import { describe, expect, test } from "vitest";
import type { Operator, QueueChanges } from "../../src/index.ts";
import { QUEUE, START, useRig } from "../support/rig.ts";

const rig = useRig();
const TASKS = `sluice:{${QUEUE}}:tasks`;

const many = (group: string, count: number) =>
  Array.from({ length: count }, (_, i) => ({ payload: i, group }));

/** The control fields that settings leave, past the library. */
const fields = async () =>
  Object.fromEntries(
    [...(await rig.space()).tasks].filter(([field]) => /^~(set|s:|g:|groups|rate)/.test(field)),
  );

const DEFAULTS = {
  paused: false,
  maxWorking: null,
  rate: null,
  maxPending: null,
  events: false,
  statistics: false,
};

describe("settings of a queue", () => {
  test("that never was are the defaults, and looking at them changes nothing", async () => {
    expect(await rig.operator().settings()).toEqual(DEFAULTS);
    expect(await rig.keySpace()).toEqual({});
  });

  test("are set one by one, the others staying as they are, and unset by null", async () => {
    const operator = rig.operator();
    await operator.configure({ maxWorking: 5, rate: { max: 10, per: "1m" } });
    const all = { ...DEFAULTS, maxWorking: 5, rate: { max: 10, per: 60_000 }, maxPending: 9, events: true };
    expect(await operator.configure({ maxPending: 9, events: true })).toEqual(all);
    expect(await operator.settings()).toEqual(all);
    expect(await fields()).toEqual({ "~set": "1;b=9;e=1;m=5;r=10/60000" });
    expect(await operator.configure({ maxWorking: null, events: false, rate: undefined })).toEqual({
      ...all,
      maxWorking: null,
      events: false,
    });
    expect(await operator.configure({ rate: null, maxPending: null })).toEqual(DEFAULTS);
    expect(await fields()).toEqual({});
  });

  test("as they were read can be set again", async () => {
    const operator = rig.operator();
    await operator.configure({ maxWorking: 5, rate: { max: 10, per: "1m" }, statistics: true });
    const { paused, ...settings } = await operator.settings();
    await operator.configure({ maxWorking: 1, rate: null, maxPending: 3, events: true, statistics: null });
    expect(await operator.configure(settings)).toEqual({ paused, ...settings });
  });

  test.each<[object, string]>([
    [{ maxWorking: 0 }, "maxWorking"],
    [{ maxWorking: 1.5 }, "maxWorking"],
    [{ maxWorking: "3" }, "maxWorking"],
    [{ maxPending: -1 }, "maxPending"],
    [{ rate: 7 }, "rate"],
    [{ rate: { max: 0, per: 1 } }, "rate.max"],
    [{ rate: { max: 1, per: 0 } }, "rate.per"],
    [{ rate: { max: 1, per: "1 minute" } }, "rate.per"],
    [{ rate: { max: 1 } }, "rate.per"],
    [{ events: "yes" }, "events"],
    [{ statistics: 1 }, "statistics"],
    [{ maxWorkers: 3 }, "maxWorkers"],
    [{ paused: true }, "paused"],
    [{ constructor: 3 }, "constructor"],
  ])("%j is refused, also beside what is right, and nothing is set", async (changes, path) => {
    const refused = rig.operator().configure({ events: true, ...changes });
    await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path });
    expect(await rig.keySpace()).toEqual({});
  });

  test("of another form than an object are refused", async () => {
    for (const changes of [null, undefined, 3, "events"]) {
      const refused = rig.operator().configure(changes as unknown as QueueChanges);
      await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path: "settings" });
    }
  });

  test("of a release of the same version keep what this one does not know (law 12)", async () => {
    await rig.command("HSET", TASKS, "~set", "1;z=future");
    await rig.operator().configure({ maxWorking: 3 });
    expect(await fields()).toEqual({ "~set": "1;m=3;z=future" });
  });
});

describe("settings of a group", () => {
  test("are the defaults where none are set, and looking at them changes nothing", async () => {
    expect(await rig.operator().groupSettings("a")).toEqual({
      queue: QUEUE,
      group: "a",
      weight: 1,
      maxWorking: null,
      rate: null,
      ready: 0,
      working: 0,
      held: 0,
    });
    expect(await rig.keySpace()).toEqual({});
  });

  test("are set one by one and unset by null, until no field is left", async () => {
    const operator = rig.operator();
    expect(await operator.configureGroup("a", { weight: 5 })).toEqual({
      weight: 5,
      maxWorking: null,
      rate: null,
    });
    expect(await fields()).toEqual({ "~s:a": "1;k=5" });
    await operator.configureGroup("a", { rate: { max: 3, per: "10s" } });
    expect(await operator.configureGroup("a", { maxWorking: 2 })).toEqual({
      weight: 5,
      maxWorking: 2,
      rate: { max: 3, per: 10_000 },
    });
    expect(await fields()).toEqual({ "~groups": "1", "~s:a": "1;k=5;m=2;n=1;r=3/10000" });
    await operator.configureGroup("a", { maxWorking: null, rate: null });
    expect(await fields()).toEqual({ "~groups": "1", "~s:a": "1;k=5" });
    await operator.configureGroup("a", { weight: null });
    expect(await fields()).toEqual({ "~groups": "1" });
  });

  test("give each limited group a number of its own, which is never used twice", async () => {
    const operator = rig.operator();
    await operator.configureGroup("a", { maxWorking: 1 });
    await operator.configureGroup("b", { rate: { max: 1, per: 1_000 } });
    await operator.configureGroup("a", { maxWorking: 2 });
    await operator.configureGroup("b", { rate: null });
    await operator.configureGroup("c", { maxWorking: 1 });
    await operator.configureGroup("b", { maxWorking: 1 });
    expect(await fields()).toEqual({
      "~groups": "4",
      "~s:a": "1;m=2;n=1",
      "~s:b": "1;m=1;n=4",
      "~s:c": "1;m=1;n=3",
    });
  });

  test("of names with any character are those of that group alone", async () => {
    const operator = rig.operator();
    for (const name of ["a;m=9", "a%3Bm=9", "s:x", "hosts"])
      await operator.configureGroup(name, { weight: 9 });
    expect(Object.keys(await fields())).toEqual(["~s:a%253Bm=9", "~s:a%3Bm=9", "~s:hosts", "~s:s:x"]);
    expect(await operator.groupSettings("a;m=9")).toMatchObject({
      group: "a;m=9",
      weight: 9,
      maxWorking: null,
    });
    expect(await operator.settings()).toEqual(DEFAULTS);
  });

  test("say how many of its tasks are ready, working and held", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("a", { maxWorking: 5 });
    await queue.enqueueMany([...many("a", 12), ...many("b", 3)]);
    await queue.dequeue({ max: 4 });
    expect(await rig.operator().groupSettings("a")).toMatchObject({ ready: 3, working: 2, held: 7 });
    expect(await rig.operator().groupSettings("b")).toMatchObject({ ready: 1, working: 2, held: 0 });
  });

  test.each<[object, string]>([
    [{ weight: 0 }, "weight"],
    [{ weight: 101 }, "weight"],
    [{ weight: 1.5 }, "weight"],
    [{ maxWorking: 0 }, "maxWorking"],
    [{ rate: { max: 1, per: "soon" } }, "rate.per"],
    [{ maxPending: 3 }, "maxPending"],
    [{ n: 7 }, "n"],
  ])("%j is refused, and nothing is set", async (changes, path) => {
    const refused = rig.operator().configureGroup("a", changes);
    await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path });
    expect(await rig.keySpace()).toEqual({});
  });

  test.each(["", " a", "é", "x".repeat(129)])("a group called %j is refused", async (name) => {
    const operator = rig.operator();
    const refusal = { code: "invalid_argument", path: "group" };
    await expect(operator.configureGroup(name, { weight: 2 })).rejects.toMatchObject(refusal);
    await expect(operator.groupSettings(name)).rejects.toMatchObject(refusal);
    expect(await rig.keySpace()).toEqual({});
  });
});

describe("a group's limit that is loosened", () => {
  const held = async () => (await rig.space()).held.size;

  test("lets in at once what it held, in order, as far as there is room", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("a", { maxWorking: 2 });
    await queue.enqueueMany(many("a", 20));
    expect(await held()).toBe(18);
    await rig.operator().configureGroup("a", { maxWorking: 7 });
    expect(await held()).toBe(13);
    const tasks = await queue.dequeue({ max: 10 });
    expect(tasks.map(({ payload }) => payload)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test("or unset lets in a hundred, and the next dequeues or sweeps the rest; then no field of it is left", async () => {
    const queue = rig.queue();
    await rig.operator().configureGroup("a", { maxWorking: 1 });
    await queue.enqueueMany(many("a", 351));
    await rig.operator().configureGroup("a", { maxWorking: null });
    expect(await held()).toBe(250);
    expect((await fields())["~s:a"]).toBe("1;n=1");
    expect(await rig.operator().groupSettings("a")).toMatchObject({
      maxWorking: null,
      ready: 101,
      held: 250,
    });
    await rig.sweepOnce();
    expect(await held()).toBe(150);
    const payloads: unknown[] = [];
    for (let call = 0; call < 20 && payloads.length < 351; call++) {
      const batch = await queue.dequeue({ max: 100 });
      payloads.push(...batch.map(({ payload }) => payload));
      await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })));
    }
    expect(payloads).toEqual(Array.from({ length: 351 }, (_, i) => i));
    await queue.dequeue();
    expect(await fields()).toEqual({ "~groups": "1" });
  });

  test("after which it is tightened again holds what is too much, behind what it held before", async () => {
    const queue = rig.queue();
    const operator = rig.operator();
    await operator.configureGroup("a", { maxWorking: 1 });
    await queue.enqueueMany(many("a", 5));
    await operator.configureGroup("a", { maxWorking: 3 });
    await operator.configureGroup("a", { maxWorking: 1 });
    const order: unknown[] = [];
    for (let i = 0; i < 5; i++) {
      const batch = await queue.dequeue({ max: 10 });
      expect(batch).toHaveLength(1);
      order.push(batch[0]?.payload);
      await batch[0]?.complete();
    }
    expect(order).toEqual([0, 3, 4, 1, 2]);
  });

  test("by a larger rate counts what was dequeued already, and by another period too", async () => {
    const queue = rig.queue();
    const operator = rig.operator();
    await operator.configureGroup("a", { rate: { max: 2, per: "10s" } });
    await queue.enqueueMany(many("a", 20));
    expect(await queue.dequeue({ max: 20 })).toHaveLength(2);
    await operator.configureGroup("a", { rate: { max: 5, per: "1m" } });
    expect(await queue.dequeue({ max: 20 })).toHaveLength(3);
    const none = await queue.dequeue({ max: 20 });
    expect([none.length, none.nextDueAt]).toEqual([0, START + 60_000 + 6_000 - (START % 6_000)]);
    rig.now = none.nextDueAt ?? 0;
    expect(await queue.dequeue({ max: 20 })).toHaveLength(5);
    await operator.configureGroup("a", { rate: null });
    expect(await queue.dequeue({ max: 20 })).toHaveLength(10);
    expect((await fields())["~g:a"]).toBe("1;w=20");
  });

  test("of a group without tasks brings no other into the account of groups", async () => {
    await rig.queue().enqueue("plain");
    await rig.operator().configureGroup("a", { maxWorking: 3, weight: 7 });
    expect((await rig.space()).tasks.has("~fair")).toBe(false);
  });
});

describe("settings of a newer release (law 12)", () => {
  const acts: [string, (operator: Operator) => Promise<unknown>][] = [
    ["configure", (operator) => operator.configure({ events: true })],
    ["pause", (operator) => operator.pause()],
    ["settings", (operator) => operator.settings()],
    ["statistics", (operator) => operator.statistics()],
    ["deleteQueue", (operator) => operator.deleteQueue({ force: true })],
  ];
  test.each(acts)("%s says newer_schema and changes nothing", async (_, act) => {
    await rig.command("HSET", TASKS, "~set", "2;m=3");
    await rig.command("ZADD", "sluice:queues", String(START), QUEUE);
    const before = await rig.keySpace();
    await expect(act(rig.operator())).rejects.toMatchObject({ code: "newer_schema" });
    expect(await rig.keySpace()).toEqual(before);
  });

  test.each(["~s:a", "~g:a"])(
    "in %s: configureGroup and groupSettings say so and change nothing",
    async (field) => {
      await rig.command("HSET", TASKS, field, "2;n=3");
      const before = await rig.keySpace();
      const operator = rig.operator();
      await expect(operator.configureGroup("a", { weight: 2 })).rejects.toMatchObject({
        code: "newer_schema",
      });
      await expect(operator.groupSettings("a")).rejects.toMatchObject({ code: "newer_schema" });
      expect(await rig.keySpace()).toEqual(before);
      expect(await operator.configureGroup("b", { weight: 2 })).toMatchObject({ weight: 2 });
    },
  );
});

describe("a copy of a configure (law 5)", () => {
  test("that arrives after later ones changes nothing, and gets the settings as they are", async () => {
    const operator = rig.operator();
    await operator.configure({ maxWorking: 1 }, { idempotencyKey: "one" });
    await operator.configureGroup("a", { weight: 2 }, { idempotencyKey: "two" });
    for (let i = 2; i <= 10; i++) await operator.configure({ maxWorking: i });
    await operator.configureGroup("a", { weight: 3 });
    const before = await rig.keySpace();
    expect(await operator.configure({ maxWorking: 1 }, { idempotencyKey: "one" })).toMatchObject({
      maxWorking: 10,
    });
    expect(await operator.configureGroup("a", { weight: 2 }, { idempotencyKey: "two" })).toMatchObject({
      weight: 3,
    });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("is known for five minutes, in a key that then goes by itself, and beside sixteen later calls at most", async () => {
    const operator = rig.operator();
    await operator.configure({ maxWorking: 1 }, { idempotencyKey: "one" });
    expect(Number(await rig.command("PTTL", `sluice:{${QUEUE}}:calls`))).toBeGreaterThan(290_000);
    const size = async () => Number(await rig.command("STRLEN", `sluice:{${QUEUE}}:calls`));
    for (let i = 0; i < 40; i++) await operator.configure({ maxWorking: 2 });
    const full = await size();
    await operator.configure({ maxWorking: 2 });
    expect(await size()).toBe(full);
    expect(full).toBeLessThan(400);
  });
});

describe("on a full Redis", () => {
  test("a queue can be paused and its limits unset, and a refused setting changes nothing", async () => {
    const operator = rig.operator();
    await operator.configure({ maxWorking: 3, rate: { max: 1, per: 1 } });
    await rig.command("CONFIG", "SET", "maxmemory", "1");
    try {
      expect(await operator.pause()).toMatchObject({ paused: true });
      expect(await operator.configure({ maxWorking: null, rate: null })).toMatchObject({ maxWorking: null });
      expect(await operator.resume()).toMatchObject({ paused: false });
    } finally {
      await rig.command("CONFIG", "SET", "maxmemory", "0");
    }
    expect(await fields()).toEqual({});
  });
});
