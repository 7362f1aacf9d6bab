import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type Transport } from "../../../src/index.ts";
import { roomFor } from "../../support/no-room.ts";
import { key, QUEUE, START, useRig } from "../../support/rig.ts";
import { FIRST, MINUTE, minutely, scheduling } from "../../support/scheduling.ts";

const rig = useRig();
const { schedules, run, reminder, waiting } = scheduling(rig);

describe("a full queue", () => {
  test("leaves a schedule unchanged, to be tried again, and the report names it", async () => {
    await rig.operator().configure({ maxPending: 1 });
    await rig.queue().enqueue(0, { id: "other" });
    await schedules().put("x", minutely);
    rig.now = FIRST;
    const before = await rig.space();
    const full = [{ queue: QUEUE, code: "queue_full" }];
    expect(await run()).toMatchObject({ scheduled: 0, more: false, failed: full });
    expect(await rig.space()).toEqual(before);
    await (await rig.queue().dequeue())[0]?.complete();
    rig.now += 5 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 1, failed: [] });
    expect(await waiting()).toEqual([5 * MINUTE]);
  });

  test("accepts as many occurrences as it has room for, and the others later", async () => {
    await rig.operator().configure({ maxPending: 3 });
    await schedules().put("x", { ...minutely, missed: "all" });
    await schedules().put("y", { ...minutely, payload: 2 });
    rig.now = FIRST + 4 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 3, failed: [{ code: "queue_full" }] });
    expect((await rig.queue().dequeue({ max: 9 })).map(({ id }) => id)).toEqual(
      [0, 1, 2].map((i) => `x.${FIRST + i * MINUTE}`),
    );
    expect(await run()).toMatchObject({ scheduled: 3, failed: [] });
  });

  test("on a full Redis enqueues nothing and moves nothing", async () => {
    await schedules().put("x", minutely);
    rig.now = FIRST;
    const before = await rig.keySpace();
    const report = await run({}, roomFor(rig.transport, 0));
    expect(report).toMatchObject({ scheduled: 0, failed: [{ queue: QUEUE, code: "queue_full" }] });
    expect(await rig.keySpace()).toEqual(before);
    expect(await run()).toMatchObject({ scheduled: 1, failed: [] });
  });

  test("gets many large occurrences in calls of some megabytes", async () => {
    const payload = "x".repeat(1_000_000);
    await schedules().put("x", { ...minutely, payload, missed: "all" });
    for (let i = 0; i < 20; i++) await schedules().put(`y${i}`, { ...minutely, payload });
    rig.now = FIRST + 19 * MINUTE;
    const pending: number[] = [];
    const counting: Transport = {
      send: async (commands, options) => {
        const outcomes = await rig.transport.send(commands, options);
        pending.push((await rig.queue().counts()).pending);
        return outcomes;
      },
    };
    expect(await run({}, counting)).toMatchObject({ scheduled: 40, more: false, failed: [] });
    expect(pending.at(-1)).toBe(40);
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
  ])("because its record is %s is reported and kept, and blocks no other", async (record, code) => {
    await schedules().put("bad", minutely);
    await schedules().put("x", minutely);
    await rig.command("HSET", key("timetable"), ".bad", record);
    for (const minute of [0, 1]) {
      rig.now = FIRST + minute * MINUTE;
      expect(await run()).toMatchObject({ scheduled: 1, failed: [{ queue: QUEUE, code }] });
    }
    expect(await waiting()).toEqual([0, MINUTE]);
    expect((await rig.space()).timetable.get(".bad")).toBe(record);
  });

  test.each(["its zone", "its record", "its task"])(
    "because of %s blocks no later one, also with more than one call takes",
    async (what) => {
      for (let i = 0; i < 120; i++) {
        await schedules().put(`bad${i}`, { every: "1m", from: FIRST - 2, payload: 1 });
        const record = what === "its zone" ? "1;c=* * * * *;z=Mars/Olympus" : "junk";
        if (what === "its task") await rig.command("HDEL", key("timetable"), `bad${i}`);
        else await rig.command("HSET", key("timetable"), `.bad${i}`, record);
        await schedules().put(`x${i}`, { every: "1m", from: FIRST - 1, payload: 1 });
      }
      const code = what === "its zone" ? "unsupported" : "unexpected_reply";
      for (let minute = 0; minute < 2; minute++) {
        rig.now = FIRST + minute * MINUTE;
        const failed = [{ queue: QUEUE, code }];
        expect(await run()).toMatchObject({ scheduled: 120, more: false, failed });
      }
      expect(await run()).toMatchObject({ scheduled: 0, more: false });
      for (let i = 0; i < 120; i++) await schedules().remove(`bad${i}`);
      expect(await run()).toMatchObject({ failed: [] });
      expect(await reminder()).toBe(FIRST + 2 * MINUTE - 1);
    },
  );

  test("is tried again by the next sweep", async () => {
    await schedules().put("bad", minutely);
    await schedules().put("x", { every: "1h", from: FIRST, payload: 1 });
    const record = String(await rig.command("HGET", key("timetable"), ".bad"));
    await rig.command("HSET", key("timetable"), ".bad", "junk");
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 1, failed: [{ code: "unexpected_reply" }] });
    rig.now += MINUTE;
    expect(await run()).toMatchObject({ scheduled: 0, failed: [{ code: "unexpected_reply" }] });
    await rig.command("HSET", key("timetable"), ".bad", record);
    expect(await run()).toMatchObject({ scheduled: 1, failed: [] });
  });

  test("costs a bounded number of requests, also with thousands of them", async () => {
    const bad = Array.from({ length: 3_000 }, (_, i) => `bad${i}`);
    const records = bad.flatMap((name) => [name, "task", `.${name}`, "junk"]);
    await schedules().put("bad0", { every: "1h", from: FIRST, payload: 1 });
    await rig.command("HSET", key("timetable"), ...records);
    await rig.command("ZADD", key("schedules"), ...bad.flatMap((name) => [String(FIRST), name]));
    rig.now = FIRST;
    let requests = 0;
    const counting: Transport = {
      send: (commands, options) => {
        requests++;
        return rig.transport.send(commands, options);
      },
    };
    const failed = [{ queue: QUEUE, code: "unexpected_reply" }];
    expect(await run({}, counting)).toMatchObject({ scheduled: 0, more: false, failed });
    expect(requests).toBeLessThan(30);
    await rig.command("DEL", key("timetable"), key("schedules"));
  });

  test("does not block the schedules of other queues", async () => {
    await schedules("broken").put("x", minutely);
    await schedules().put("x", minutely);
    await rig.command("SET", "sluice:{broken}:schedules", "not a zset");
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 1, failed: [{ queue: "broken", code: "redis_error" }] });
  });
});

test("many queues with missed occurrences take at most half of a sweep's time, over all pages of the registry", async () => {
  const reminders = Array.from({ length: 3_000 }, (_, i) => [String(START - 1), `~q${i}`]);
  await rig.command("ZADD", "sluice:queues", ...reminders.flat());
  let looks = 0;
  const slow: Transport = {
    async send(commands, options) {
      const [first] = commands;
      if (first && "script" in first && first.script.name === "dueSchedules") {
        looks++;
        await sleep(60);
      }
      return rig.transport.send(commands, options);
    },
  };
  const { more } = await run({ budget: "1s" }, slow);
  // Half a second has room for nine calls; each page of the registry has fifty queues.
  expect([more, looks <= 9, looks > 0]).toEqual([true, true, true]);
});
