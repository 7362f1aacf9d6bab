import { describe, expect, test } from "vitest";
import { START, useRig } from "../../support/rig.ts";
import { minutely, scheduling, MINUTE } from "../../support/scheduling.ts";

// Calls that change schedules at once, or arrive late. Law 5: if a resend was answered that nothing is done, a late first
// copy gets the same answer.

const rig = useRig();
const { between, schedules, schedulesOf, reminder } = scheduling(rig);
const once = { idempotencyKey: "one" };
const notFound = { ok: false, code: "not_found" };

/** All data of schedules. */
const kept = async () => {
  const { schedules: times, timetable } = await rig.space();
  return { times, timetable };
};

const verbs = ["pause", "resume", "remove"] as const;

describe.each(verbs)("a late copy of a %s that found no schedule", (verb) => {
  test("counts only for that schedule, that verb and that key", async () => {
    expect(await schedules()[verb]("x", once)).toEqual(notFound);
    for (const name of ["x", "y"]) await schedules().put(name, { ...minutely, paused: verb === "resume" });
    expect(await schedules()[verb]("y", once)).toMatchObject({ ok: true });
    for (const other of verbs.filter((each) => each !== verb))
      expect(await schedules()[other]("y", once)).toMatchObject({ ok: verb !== "remove" });
    expect(await schedules()[verb]("x", { idempotencyKey: "two" })).toMatchObject({ ok: true });
  });
});

test.each(["pause", "resume"] as const)(
  "a late copy of a %s whose schedule was removed meanwhile changes nothing of the next one",
  async (verb) => {
    const paused = verb === "resume";
    await schedules().put("x", { ...minutely, paused });
    const meeting = schedulesOf(between(1, () => schedules().remove("x")));
    expect(await meeting[verb]("x", once)).toEqual(notFound);
    await schedules().put("x", { ...minutely, paused });
    const before = await kept();
    expect(await schedules()[verb]("x", once)).toEqual(notFound);
    expect(await kept()).toEqual(before);
  },
);

test.each([
  ["no schedule", undefined],
  ["another schedule", { every: "1h", payload: 1 }],
] as const)(
  "a late copy of a put that was refused beside %s does not end one that was put since",
  async (_, other) => {
    if (other) await schedules().put("x", other);
    const ended = { ...minutely, until: START - 1 };
    const refused = { code: "invalid_argument", path: "schedule" };
    await expect(schedules().put("x", ended, once)).rejects.toMatchObject(refused);
    await schedules().put("x", minutely);
    const before = await kept();
    await expect(schedules().put("x", ended, once)).rejects.toMatchObject(refused);
    expect(await kept()).toEqual(before);
  },
);

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
