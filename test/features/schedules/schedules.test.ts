import { describe, expect, test } from "vitest";
import { listQueues, type NewSchedule } from "../../../src/index.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { listSchedulesScript } from "../../../src/features/schedules/schedule-scripts.ts";
import { allPages } from "../../support/paging.ts";
import { key, QUEUE, START, useRig } from "../../support/rig.ts";
import { FIRST, MINUTE, minutely, scheduling } from "../../support/scheduling.ts";

const rig = useRig();
const { schedules, sweepAt } = scheduling(rig);

describe("a schedule that is put", () => {
  test("is stored with its task, its next occurrence, and a reminder for the sweep", async () => {
    const options = {
      lease: "1m",
      maxAttempts: 3,
      resultTtl: "1d",
      deadTtl: "2d",
      group: "a;b",
      priority: 7,
      headers: { trace: "ä" },
    } as const;
    const payload = { text: "ü \u0000 😀" };
    const put = await schedules().put("nightly", { ...minutely, ...options, payload, until: START * 2 });
    const listed = {
      name: "nightly",
      queue: QUEUE,
      cron: "* * * * *",
      timeZone: "UTC",
      until: START * 2,
      missed: "last",
      paused: false,
      createdAt: START,
      nextAt: FIRST,
      lastAt: null,
    };
    expect(put).toEqual({ ...listed, created: true });
    const task = { ...options, lease: MINUTE, resultTtl: 86_400_000, deadTtl: 172_800_000 };
    expect(await schedules().get("nightly")).toEqual({ ...listed, ...task, payload });
    expect(await schedules().list()).toEqual({ schedules: [listed], cursor: null });
    expect((await rig.keySpace())["sluice:queues"]).toEqual({
      zset: [
        [QUEUE, START],
        [`~${QUEUE}`, FIRST],
      ],
    });
    expect((await listQueues(rig.transport)).queues).toEqual([{ name: QUEUE, seenAt: START }]);
  });

  test("with another time zone, expression or interval occurs next counted from now", async () => {
    await schedules().put("x", { cron: "0 0 * * *", payload: 1 });
    const at = async (schedule: Partial<NewSchedule<unknown>>) =>
      (await schedules().put("x", { payload: 1, ...schedule })).nextAt;
    expect(await at({ cron: "0 0 * * *", timeZone: "Europe/Berlin" })).toBe(Date.parse("2023-11-14T23:00Z"));
    expect(await at({ cron: "* * * * *" })).toBe(FIRST);
    expect(await at({ every: "10m" })).toBe(START + 600_000);
    rig.now += 5_000;
    expect(await at({ every: "10m" })).toBe(START + 600_000);
    expect(await at({ every: "10m", from: START + 600_000 })).toBe(START + 600_000);
    expect(await at({ every: "10m", from: START + 90_000 })).toBe(START + 90_000);
    // If the first occurrence has passed, the next one counts from now; earlier ones were never missed.
    expect(await at({ every: "10m", from: START - 100_000 })).toBe(START + 500_000);
    expect(await at({ every: "11m" })).toBe(rig.now + 660_000);
    expect(await at({ every: "12m", from: rig.now })).toBe(rig.now);
  });

  test("again remembers what it has enqueued: a clock that jumps back repeats nothing", async () => {
    await schedules().put("x", minutely);
    await sweepAt(5);
    rig.now = FIRST;
    const put = await schedules().put("x", { cron: "*/2 * * * *", payload: 1 });
    expect(put).toMatchObject({ lastAt: FIRST + 5 * MINUTE, nextAt: FIRST + 6 * MINUTE });
  });

  test("is refused if it would never occur, and nothing is written", async () => {
    const never = { code: "invalid_argument", path: "schedule" };
    for (const schedule of [
      { cron: "0 0 30 2 *", payload: 1 },
      { ...minutely, until: FIRST - 1 },
      { ...minutely, until: 1_700_000, paused: true },
    ]) {
      await expect(schedules().put("x", schedule)).rejects.toMatchObject(never);
    }
    expect(await rig.keySpace()).toEqual({});
  });

  test("has the size limits of a task for payload and headers, with the headers it adds", async () => {
    const full = (headers: number) => ({ ...minutely, headers: { a: "x".repeat(headers) } });
    const own = JSON.stringify({ a: "", schedule: "x", "scheduled-at": "8640000000000000" }).length;
    await schedules().put("x", full(16_384 - own));
    await expect(schedules().put("x", full(16_385 - own))).rejects.toMatchObject({ code: "too_large" });
    await schedules().put("x", { ...minutely, payload: new Uint8Array(1_048_576) });
    const large = { ...minutely, payload: new Uint8Array(1_048_577) };
    await expect(schedules().put("x", large)).rejects.toMatchObject({ code: "too_large", path: "payload" });
    const { payload } = (await schedules().get("x")) ?? {};
    // A comparison by `expect` takes seconds.
    expect(Buffer.from(payload as Uint8Array).equals(Buffer.alloc(1_048_576))).toBe(true);
  });
});

test("a schedule is paused since its first pause, also if it is paused or put again, until it is resumed", async () => {
  const pausedAt = async () => {
    const { schedules: found } = await schedules().list();
    return found.map((schedule) => [schedule.paused, schedule.pausedAt]);
  };
  await schedules().put("x", minutely);
  expect(await pausedAt()).toEqual([[false, undefined]]);
  const first = (rig.now += MINUTE);
  await schedules().pause("x");
  for (const again of [
    () => schedules().pause("x"),
    () => schedules().put("x", { ...minutely, paused: true }),
    () => schedules().put("x", { ...minutely, payload: "other" }),
  ]) {
    rig.now += MINUTE;
    await again();
    expect(await pausedAt()).toEqual([[true, first]]);
  }
  expect(await schedules().resume("x")).not.toHaveProperty("schedule.pausedAt");
  expect(await pausedAt()).toEqual([[false, undefined]]);
  rig.now += MINUTE;
  const put = await schedules().put("x", { ...minutely, paused: true });
  expect([put.pausedAt, await pausedAt()]).toEqual([rig.now, [[true, rig.now]]]);
  await schedules().put("x", { ...minutely, paused: false });
  expect(await pausedAt()).toEqual([[false, undefined]]);
});

test("a schedule whose time zone the runtime does not know is not resumed", async () => {
  await schedules().put("x", { ...minutely, paused: true });
  await rig.command("HSET", key("timetable"), ".x", "1;c=* * * * *;p=1000000;z=Mars/Olympus");
  const before = await rig.space();
  await expect(schedules().resume("x")).rejects.toMatchObject({ code: "unsupported" });
  expect(await rig.space()).toEqual(before);
});

describe("schedules", () => {
  test("are listed in pages that together name all of them", async () => {
    const names = Array.from({ length: 150 }, (_, i) => `s${String(i).padStart(3, "0")}`);
    for (const name of names) await schedules().put(name, { ...minutely, paused: true });
    const pages = await allPages((cursor) => schedules().list({ cursor, size: 20 }));
    const found = new Set(pages.flatMap((page) => page.schedules.map(({ name }) => name)));
    expect([...found].toSorted()).toEqual(names);
  });

  test("of two queues, and with names that begin alike, are separate", async () => {
    const other = schedules(`${QUEUE}-2`);
    await schedules().put("x", minutely);
    await schedules().put("x.1", { ...minutely, payload: 2 });
    await other.put("x", { ...minutely, payload: 3 });
    expect(await schedules().remove("x")).toEqual({ ok: true });
    expect(await schedules().get("x")).toBeNull();
    expect([...(await rig.space()).schedules.keys()]).toEqual(["x.1"]);
    expect((await schedules().get("x.1"))?.payload).toBe(2);
    expect((await other.get("x"))?.payload).toBe(3);
    await schedules().remove("x.1");
    expect((await rig.space()).timetable.size).toBe(0);
  });

  test("of a newer release are left as they are", async () => {
    await schedules().put("x", minutely);
    await rig.command("HSET", key("timetable"), ".x", "2;what=ever");
    const before = await rig.keySpace();
    const newer = { code: "newer_schema" };
    await expect(schedules().put("x", minutely)).rejects.toMatchObject(newer);
    await expect(schedules().pause("x")).rejects.toMatchObject(newer);
    await expect(schedules().remove("x")).rejects.toMatchObject(newer);
    await expect(schedules().get("x")).rejects.toMatchObject(newer);
    await expect(schedules().list()).rejects.toMatchObject(newer);
    // A record of an invalid form is not read either, as in clients of other languages.
    for (const name of ["x", ""]) {
      const call = callOf(listSchedulesScript, queueKeys(QUEUE), { name, cursor: "0", size: "100" });
      expect(await rig.transport.send([call])).toEqual([{ reply: ["newer_schema"] }]);
    }
    expect(await rig.keySpace()).toEqual(before);
  });
});

const once = { idempotencyKey: "one" };

test("a copy of a call with the same key for another schedule is another call (law 5)", async () => {
  for (const name of ["x", "y"]) expect(await schedules().put(name, minutely, once)).toMatchObject({ name });
  for (const name of ["x", "y"]) await schedules().pause(name, once);
  expect((await schedules().list()).schedules.map(({ paused }) => paused)).toEqual([true, true]);
  for (const name of ["x", "y"]) await schedules().remove(name, once);
  expect((await schedules().list()).schedules).toEqual([]);
});
