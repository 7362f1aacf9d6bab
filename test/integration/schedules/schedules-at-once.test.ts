import { describe, expect, test } from "vitest";
import { useRig } from "../../support/rig.ts";
import { MINUTE, scheduling } from "../../support/scheduling.ts";

const rig = useRig();
const { between, schedules, schedulesOf, reminder } = scheduling(rig);

describe("schedules that are written at once", () => {
  test("end up in the form that one writer gave, with a reminder that is no later", async () => {
    const writers = Array.from({ length: 10 }, (_, i) => [
      schedules().put("x", { every: (i + 1) * 60_000, payload: i }),
      schedules().pause("x"),
      schedules().resume("x"),
    ]);
    await Promise.all(writers.flat());
    await schedules().resume("x");
    const found = await schedules().get("x");
    expect(found).toMatchObject({ paused: false });
    if (found && "every" in found) expect(found.every).toBe(((found.payload as number) + 1) * MINUTE);
    expect(await reminder()).toBeLessThanOrEqual(found?.nextAt ?? 0);
  });

  test.each(["pause", "resume"] as const)("and put during a %s keep both changes", async (verb) => {
    await schedules().put("x", { every: "5m", payload: 1, paused: verb === "resume" });
    // The schedule that the first request has read is now changed.
    const meeting = between(1, () => schedules().put("x", { every: "7m", payload: 2 }));
    const changed = await schedulesOf(meeting)[verb]("x");
    const both = { every: 7 * MINUTE, paused: verb === "pause" };
    expect(changed).toMatchObject({ ok: true, schedule: both });
    expect(await schedules().get("x")).toMatchObject({ ...both, payload: 2 });
  });
});
