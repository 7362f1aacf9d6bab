import { afterEach, describe, expect, test, vi } from "vitest";
import { roomFor } from "../../support/no-room.ts";
import { key, QUEUE, START, useRig } from "../../support/rig.ts";
import { FIRST, MINUTE, minutely, scheduling } from "../../support/scheduling.ts";

const rig = useRig();
const { instance, schedules, run, sweepAt, reminder, waiting } = scheduling(rig);
const failed = (code: string, queue = QUEUE) => [{ queue, code }];
afterEach(() => void vi.restoreAllMocks());

describe("a full queue", () => {
  test("leaves a schedule unchanged, to be tried again, and the report names it", async () => {
    await rig.operator().configure({ maxPending: 1 });
    await rig.queue().enqueue(0, { id: "other" });
    await schedules().put("x", minutely);
    const before = await rig.space();
    expect(await sweepAt(0)).toMatchObject({ scheduled: 0, more: false, failed: failed("queue_full") });
    expect(await rig.space()).toEqual(before);
    await (await rig.queue().dequeue())[0]?.complete();
    expect(await sweepAt(5)).toMatchObject({ scheduled: 1, failed: [] });
    expect(await waiting()).toEqual([5]);
  });

  test("accepts as many occurrences as it has room for, and the others later", async () => {
    await rig.operator().configure({ maxPending: 3 });
    await schedules().put("x", { ...minutely, missed: "all" });
    await schedules().put("y", { ...minutely, payload: 2 });
    expect(await sweepAt(4)).toMatchObject({ scheduled: 3, failed: failed("queue_full") });
    expect((await rig.queue().dequeue({ max: 9 })).map(({ id }) => id)).toEqual(
      [0, 1, 2].map((i) => `x.${FIRST + i * MINUTE}`),
    );
    expect(await run()).toMatchObject({ scheduled: 3, failed: [] });
  });

  test("on a full Redis enqueues nothing and moves nothing", async () => {
    await schedules().put("x", minutely);
    const before = await rig.keySpace();
    const report = await sweepAt(0, roomFor(rig.transport, 0));
    expect(report).toMatchObject({ scheduled: 0, failed: failed("queue_full") });
    expect(await rig.keySpace()).toEqual(before);
    expect(await run()).toMatchObject({ scheduled: 1, failed: [] });
  });

  test("gets many large occurrences in calls of some megabytes", async () => {
    const payload = "x".repeat(1_000_000);
    await schedules().put("x", { ...minutely, payload, missed: "all" });
    for (let i = 0; i < 10; i++) await schedules().put(`y${i}`, { ...minutely, payload });
    const pending: number[] = [];
    const counting = instance(async () => pending.push((await rig.queue().counts()).pending));
    expect(await sweepAt(9, counting)).toMatchObject({ scheduled: 20, more: false, failed: [] });
    pending.push((await rig.queue().counts()).pending);
    expect(pending.at(-1)).toBe(20);
    const steps = pending.map((count, i) => count - (pending[i - 1] ?? 0));
    expect(Math.max(...steps)).toBe(8);
  });
});

describe("a schedule that cannot be followed", () => {
  test.each([
    ["2;what=ever", "newer_schema"],
    ["junk", "unexpected_reply"],
    ["1;c=* * * * *;z=Mars/Olympus", "unsupported"],
    ["1;c=a b c d e;z=UTC", "unsupported"],
  ])(
    "because its record is %s is reported and kept, blocks no other, and is tried again",
    async (record, code) => {
      await schedules().put("bad", minutely);
      await schedules().put("x", minutely);
      const intact = String(await rig.command("HGET", key("timetable"), ".bad"));
      await rig.command("HSET", key("timetable"), ".bad", record);
      for (const minute of [0, 1])
        expect(await sweepAt(minute)).toMatchObject({ scheduled: 1, failed: failed(code) });
      expect(await waiting()).toEqual([0, 1]);
      expect((await rig.space()).timetable.get(".bad")).toBe(record);
      await rig.command("HSET", key("timetable"), ".bad", intact);
      expect(await run()).toMatchObject({ scheduled: 1, failed: [] });
    },
  );

  test.each([
    ["its zone", "unsupported", ["HSET", ".bad", "1;c=* * * * *;z=Mars/Olympus"]],
    ["its record", "unexpected_reply", ["HSET", ".bad", "junk"]],
    ["its task", "unexpected_reply", ["HDEL", "bad"]],
  ])(
    "because of %s blocks no later one, also with more than one call takes",
    async (_, code, [command = "", field = "", ...record]) => {
      for (let i = 0; i < 120; i++) {
        await schedules().put(`bad${i}`, { every: "1m", from: FIRST - 2, payload: 1 });
        await rig.command(command, key("timetable"), `${field}${i}`, ...record);
        await schedules().put(`x${i}`, { every: "1m", from: FIRST - 1, payload: 1 });
      }
      for (const minute of [0, 1])
        expect(await sweepAt(minute)).toMatchObject({ scheduled: 120, more: false, failed: failed(code) });
      expect(await run()).toMatchObject({ scheduled: 0, more: false });
      for (let i = 0; i < 120; i++) await schedules().remove(`bad${i}`);
      expect(await run()).toMatchObject({ failed: [] });
      expect(await reminder()).toBe(FIRST + 2 * MINUTE - 1);
    },
  );

  test("costs a bounded number of requests, also with thousands of them", async () => {
    const bad = Array.from({ length: 3_000 }, (_, i) => `bad${i}`);
    const records = bad.flatMap((name) => [name, "task", `.${name}`, "junk"]);
    await schedules().put("bad0", { every: "1h", from: FIRST, payload: 1 });
    await rig.command("HSET", key("timetable"), ...records);
    await rig.command("ZADD", key("schedules"), ...bad.flatMap((name) => [String(FIRST), name]));
    let requests = 0;
    const report = await sweepAt(
      0,
      instance(() => requests++),
    );
    expect(report).toMatchObject({ scheduled: 0, more: false, failed: failed("unexpected_reply") });
    expect(requests).toBeLessThan(30);
    await rig.command("DEL", key("timetable"), key("schedules"));
  });

  test("does not block the schedules of other queues", async () => {
    await schedules("broken").put("x", minutely);
    await schedules().put("x", minutely);
    await rig.command("SET", "sluice:{broken}:schedules", "not a zset");
    expect(await sweepAt(0)).toMatchObject({ scheduled: 1, failed: failed("redis_error", "broken") });
  });
});

test("many queues with missed occurrences take at most half of a sweep's time, over all pages of the registry", async () => {
  const reminders = Array.from({ length: 3_000 }, (_, i) => [String(START - 1), `~q${i}`]);
  await rig.command("ZADD", "sluice:queues", ...reminders.flat());
  // On this clock nothing takes time except a look at the due schedules of a page, which takes 60 ms.
  let [clock, looks] = [0, 0];
  vi.spyOn(performance, "now").mockImplementation(() => clock);
  const slow = instance((_, [first]) => {
    if (!first || !("script" in first) || first.script.name !== "dueSchedules") return;
    looks++;
    clock += 60;
  });
  const { more } = await run(slow, { budget: "1s" });
  // Half a second has room for eight looks, and the ninth begins within it; each page of the registry has fifty queues.
  expect([more, looks]).toEqual([true, 9]);
});
