import { describe, expect, test } from "vitest";
import { useRig } from "../../support/rig.ts";
import { minutely, scheduling } from "../../support/scheduling.ts";

// Law 5: if a resend was answered that nothing is done, a late first copy gets the same answer.

const rig = useRig();
const { between, schedules, schedulesOf } = scheduling(rig);
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
