import { describe, expect, test } from "vitest";
import type { Operator } from "../../src/index.ts";
import { controlFields } from "../support/key-space.ts";
import { key, QUEUE, START, useRig } from "../support/rig.ts";

const rig = useRig();
const TASKS = key("tasks");

/** The fields of the tasks hash that settings write. */
const fields = async () => controlFields(await rig.space(), /^~(set|s:|g:|groups|rate)/);

const DEFAULTS = {
  paused: false,
  pausedUntil: null,
  maxWorking: null,
  rate: null,
  maxPending: null,
  events: false,
  statistics: false,
  order: null,
  onDead: "continue",
};

describe("settings of a queue", () => {
  test("are set one by one, keep the others as they are, and are unset by null", async () => {
    const operator = rig.operator();
    await operator.configure({ maxWorking: 5, rate: { most: 10, per: "1m" } });
    const all = { ...DEFAULTS, maxWorking: 5, rate: { most: 10, per: 60_000 }, maxPending: 9, events: true };
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

  test("keep unknown fields of another release of the same version (law 12)", async () => {
    await rig.command("HSET", TASKS, "~set", "1;z=future");
    await rig.operator().configure({ maxWorking: 3 });
    expect(await fields()).toEqual({ "~set": "1;m=3;z=future" });
  });
});

describe("settings of a newer release (law 12)", () => {
  const refuses = async (field: string, acts: Record<string, (operator: Operator) => Promise<unknown>>) => {
    await rig.command("HSET", TASKS, field, "3;m=3");
    await rig.command("ZADD", "sluice:queues", String(START), QUEUE);
    const before = await rig.keySpace();
    for (const act of Object.values(acts))
      await expect(act(rig.operator())).rejects.toMatchObject({ code: "newer_schema" });
    expect(await rig.keySpace()).toEqual(before);
  };

  test("configure, pause, settings, statistics and deleteQueue throw newer_schema and change nothing", () =>
    refuses("~set", {
      configure: (operator) => operator.configure({ events: true }),
      pause: (operator) => operator.pause(),
      settings: (operator) => operator.settings(),
      statistics: (operator) => operator.statistics(),
      deleteQueue: (operator) => operator.deleteQueue({ force: true }),
    }));

  test.each(["~s:a", "~g:a"])(
    "in %s: configureGroup and groupSettings throw newer_schema and change nothing",
    async (field) => {
      await refuses(field, {
        configureGroup: (operator) => operator.configureGroup("a", { weight: 2 }),
        groupSettings: (operator) => operator.groupSettings("a"),
      });
      expect(await rig.operator().configureGroup("b", { weight: 2 })).toMatchObject({ weight: 2 });
    },
  );
});

test("pausing and resuming register a queue without tasks", async () => {
  await rig.operator().pause();
  expect((await rig.keySpace())["sluice:queues"]).toEqual({ zset: [[QUEUE, START]] });
});

describe("a copy of a configure (law 5)", () => {
  test("is not taken for a copy of another operation with the same key", async () => {
    await rig.queue().enqueue(1);
    const again = { idempotencyKey: "one" };
    await rig.operator().configure({ maxWorking: 3 }, again);
    expect(await rig.operator().deleteQueue(again)).toEqual({ ok: true });
    expect(await rig.queue().counts()).toMatchObject({ pending: 0 });
    expect(await fields()).toEqual({});
  });

  test("is recognised for five minutes, in a key that then expires, and beside at most sixteen later calls", async () => {
    const operator = rig.operator();
    await operator.configure({ maxWorking: 1 }, { idempotencyKey: "one" });
    expect(Number(await rig.command("PTTL", key("operator-calls")))).toBeGreaterThan(290_000);
    const size = async () => Number(await rig.command("STRLEN", key("operator-calls")));
    for (let i = 0; i < 40; i++) await operator.configure({ maxWorking: 2 });
    const full = await size();
    await operator.configure({ maxWorking: 2 });
    expect(await size()).toBe(full);
    expect(full).toBeLessThan(400);
  });
});

test("on a full Redis a queue can be paused and its limits unset", async () => {
  const operator = rig.operator();
  await operator.configure({ maxWorking: 3, rate: { most: 1, per: 1 } });
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
