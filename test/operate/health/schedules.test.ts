import { describe, expect, test } from "vitest";
import { Schedules, sweep } from "../../../src/index.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { looking } from "./looking.ts";

// Schedules do not occur.

const rig = useRig();
const MINUTE = 60_000;
const now = () => rig.now;
const { health, findings } = looking(rig);

describe("schedules", () => {
  const schedules = () => new Schedules(QUEUE, { transport: rig.transport, now });

  test("that are paused are named; those that have ended are not", async () => {
    for (const name of ["daily", "weekly"]) {
      await schedules().put(name, { every: "24h", payload: 1, paused: true });
      rig.now += 3 * MINUTE;
    }
    await schedules().put("once", { every: "1h", from: rig.now, until: rig.now + 1, payload: 1 });
    await sweep(rig.transport, { now });
    expect((await health()).findings.at(-1)).toMatchObject({
      code: "schedule_paused",
      status: "warning",
      found: "paused schedules: daily for 6m, weekly for 3m",
      advice: "sluice schedules emails --resume daily",
      names: ["daily", "weekly"],
    });
    await schedules().resume("daily");
    expect((await findings()).at(-1)?.[2]).toBe("schedule weekly has been paused for 3m");
  });

  test("that are paused are said to have missed what is not made up", async () => {
    const paused = async () => (await health()).findings.find(({ code }) => code === "schedule_paused");
    await schedules().put("daily", { every: "24h", payload: 1 });
    await schedules().put("often", { every: "5m", payload: 1 });
    rig.now += 5 * MINUTE;
    await sweep(rig.transport, { now });
    rig.now += MINUTE;
    await schedules().pause("often");
    rig.now += 5 * MINUTE;
    expect(await paused()).toMatchObject({
      found: "schedule often has been paused for 5m (1 occurrence missed, the last 1m ago)",
      advice:
        "sluice schedules emails --resume often; what was missed is not made up: sluice schedules emails --run often",
    });
    rig.now += 10 * MINUTE;
    expect(await paused()).toMatchObject({
      found: "schedule often has been paused for 15m (3 occurrences missed, the last 1m ago)",
    });
    await schedules().pause("daily");
    expect((await paused())?.found).toBe(
      "paused schedules: daily for 0ms, often for 15m (3 occurrences missed, the last 1m ago)",
    );
    expect(await schedules().resume("often")).toMatchObject({ ok: true, skipped: 3 });
    await sweep(rig.transport, { now });
    expect(await rig.queue().counts()).toMatchObject({ pending: 1 });
  });

  test("that cannot enqueue, because the queue is full, are late", async () => {
    await rig.operator().configure({ maxPending: 1 });
    await schedules().put("hourly", { every: "1h", from: rig.now + MINUTE, payload: 1 });
    await rig.queue().enqueue(1);
    rig.now += MINUTE;
    await sweep(rig.transport, { now });
    rig.now += 4 * MINUTE;
    await sweep(rig.transport, { now });
    const late = "schedule hourly was due 4m ago, and has not occurred";
    const full = "the queue has its maxPending of 1: let the consumers catch up, or raise it";
    expect(await findings()).toEqual([["schedule_failing", "problem", late, full]]);
    await rig.operator().configure({ maxPending: null });
    const other = "cron does not sweep, or the queue or Redis is full. To sweep once by hand: sluice sweep";
    expect(await findings()).toEqual([["schedule_failing", "problem", late, other]]);
    await sweep(rig.transport, { now });
    expect(await findings()).toEqual([]);
  });

  test("of which many are late are counted, and ten are named", async () => {
    for (let i = 0; i < 12; i++)
      await schedules().put(`s${i}`, { every: "1h", from: rig.now + 1_000 * (i + 1), payload: 1 });
    rig.now += 5 * MINUTE;
    const found = (await health()).findings.at(-1);
    expect(found).toMatchObject({
      code: "schedule_failing",
      found: "12 schedules are late; s0 was due 4m 59s ago, and has not occurred",
    });
    expect((found as { names?: string[] }).names).toHaveLength(10);
  });
});
