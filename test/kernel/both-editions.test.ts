import { afterEach, expect, test, vi } from "vitest";
import { linked } from "../../src/features/linked/index.ts";
import { day, run, scheduleDay, sharedDay, togetherDay } from "../support/day.ts";
import { useRig } from "../support/rig.ts";

// The linked edition of the scripts does all that the plain one does. With SLUICE_EDITION=linked, all tests on a rig
// show it.
const rig = useRig();
afterEach(() => void vi.restoreAllMocks());

test.each([
  ["a queue's day", day],
  ["a day of groups, limits, keys and workers", sharedDay],
  ["a day of calls that share requests", togetherDay],
  ["a day of schedules", scheduleDay],
])("%s is the same in both editions of the scripts, answers and key space", async (_, scenario) => {
  const plain = await run(rig, scenario);
  expect(await run(rig, scenario, linked(rig.transport))).toEqual(plain);
});
