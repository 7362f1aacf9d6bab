import { describe, expect, test } from "vitest";
import { deepTools } from "../../support/deep.ts";
import { key, QUEUE, START, useRig } from "../../support/rig.ts";
import { FIRST, minutely, scheduling } from "../../support/scheduling.ts";

const rig = useRig();
const { found, runDeepSweep } = deepTools(rig);
const { schedules, sweepAt } = scheduling(rig);
const timetable = key("timetable");

const NEVER = "8640000000000001";
describe("a deep sweep", () => {
  test("gives schedules their next occurrence again, counted from now", async () => {
    await schedules().put("x", minutely);
    await schedules().put("lost", { every: "1h", payload: 1 });
    await schedules().put("paused", { ...minutely, paused: true });
    await rig.command("DEL", key("schedules"));
    rig.now = FIRST + 5;
    expect(await found()).toEqual({ schedule_broken: ["lost", "paused", "x"] });
    expect(Object.fromEntries((await rig.space()).schedules)).toEqual({
      x: FIRST + 60_000,
      lost: START + 3_600_000,
      paused: Number(NEVER),
    });
  });

  test("repairs schedules whose next occurrence is invalid", async () => {
    const scores = ["inf", "-inf", "0", "-5", "1.5", NEVER];
    for (const [i, score] of scores.entries()) {
      await schedules().put(`x${i}`, minutely);
      await rig.command("ZADD", key("schedules"), score, `x${i}`);
    }
    const all = scores.map((_, i) => `x${i}`);
    expect(await found()).toEqual({ schedule_broken: all });
    expect(Object.fromEntries((await rig.space()).schedules)).toEqual(
      Object.fromEntries(all.map((name) => [name, FIRST])),
    );
  });

  test("stops a paused schedule that was due to occur", async () => {
    await schedules().put("x", { ...minutely, paused: true });
    await rig.command("ZADD", key("schedules"), String(FIRST), "x");
    expect(await found()).toEqual({ schedule_broken: ["x"] });
    expect(Number(await rig.command("ZSCORE", key("schedules"), "x"))).toBe(Number(NEVER));
  });

  test("drops schedules without a task, or without a record that can be read", async () => {
    for (const name of ["valid", "record", "task", "both", "junk", "timeless"])
      await schedules().put(name, minutely);
    await rig.command("HDEL", timetable, ".record", "task", "both", ".both");
    await rig.command("HSET", timetable, ".junk", "junk", ".timeless", "1;s=5");
    expect(await found()).toEqual({ schedule_broken: ["both", "junk", "record", "task", "timeless"] });
    expect([...(await rig.space()).schedules.keys()]).toEqual(["valid"]);
  });

  test.each([
    ["was lost", "DEL", "sluice:queues"],
    ["has one that is too late", "ZADD", "sluice:queues", NEVER, `~${QUEUE}`],
  ])("gives the queue its reminder again if the registry %s", async (_, ...command) => {
    await schedules().put("x", minutely);
    await rig.command(...command);
    expect((await runDeepSweep({ queue: QUEUE })).faults).toEqual([]);
    expect(await sweepAt(0)).toMatchObject({ queues: 1, scheduled: 1 });
  });

  test("leaves schedules of a newer release as they are", async () => {
    await schedules().put("x", minutely);
    await rig.command("HSET", timetable, ".x", "2;what=ever");
    const before = await rig.keySpace();
    expect((await runDeepSweep()).failed).toEqual([{ queue: QUEUE, code: "newer_schema" }]);
    expect(await rig.keySpace()).toEqual(before);
  });

  test("reports a schedule whose time zone the runtime does not know, and repairs the others", async () => {
    for (const name of ["a", "bad", "z"]) await schedules().put(name, minutely);
    await schedules("other").put("x", minutely);
    const record = "1;c=* * * * *;z=Mars/Olympus";
    await rig.command("HSET", timetable, ".bad", record);
    await rig.command("DEL", key("schedules"), "sluice:{other}:schedules");
    const report = await runDeepSweep();
    expect(report.failed).toEqual([{ queue: QUEUE, code: "unsupported" }]);
    expect(report.faults).toMatchObject([
      { queue: QUEUE, ids: ["a", "z"] },
      { queue: "other", ids: ["x"] },
    ]);
    expect((await rig.space()).timetable.get(".bad")).toBe(record);
    await schedules().remove("bad");
  });
});
