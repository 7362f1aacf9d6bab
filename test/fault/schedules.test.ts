import { afterEach, describe, expect, test, vi } from "vitest";
import { Schedules, sweep } from "../../src/index.ts";
import { run, type Disturbance, type Scenario } from "../support/day.ts";
import { QUEUE, START, useRig } from "../support/rig.ts";

const rig = useRig();
afterEach(() => vi.restoreAllMocks());

const MINUTE = 60_000;

/** A queue's schedules, in each of their states, and sweeps. The counts of sweeps are not compared. */
const scheduleDay: Scenario = async (queue, transport) => {
  const schedules = new Schedules(QUEUE, { transport, now: () => rig.now });
  const answers: unknown[] = [];
  const minutely = { cron: "* * * * *", payload: 1 } as const;
  const sweepAll = () => sweep(transport, { now: () => rig.now });
  answers.push(await schedules.put("last", minutely));
  answers.push(await schedules.put("all", { every: "1m", payload: 2, missed: "all" }));
  answers.push(await schedules.put("gone", minutely));
  rig.now += MINUTE;
  await sweepAll();
  answers.push(await schedules.put("last", { ...minutely, payload: 3 }));
  answers.push(await schedules.pause("all"));
  answers.push(await schedules.remove("gone"));
  rig.now += 3 * MINUTE;
  await sweepAll();
  answers.push(await schedules.resume("all"));
  answers.push(await schedules.put("gone", { every: "1h", payload: 4 }));
  rig.now += 3 * MINUTE;
  await sweepAll();
  answers.push(await schedules.get("last"), await schedules.get("all"), await schedules.get("gone"));
  const tasks = await queue.dequeue({ max: 20 });
  answers.push(tasks.map(({ id, payload }) => [id, payload]));
  return answers;
};

/** The outcome that has to be the same, and whether a reminder comes in time. */
async function outcome(disturbance?: Disturbance) {
  const { answers, requests, space } = await run(rig, scheduleDay, disturbance);
  const { schedules, timetable, working } = space;
  const reminder = Number(await rig.command("ZSCORE", "sluice:queues", `~${QUEUE}`));
  const inTime = reminder <= Math.min(...schedules.values());
  return { requests, same: { answers, schedules, timetable, working: [...working.keys()], inTime } };
}

describe("a day of schedules comes out the same (law 5)", () => {
  test("without a fault, and each occurrence is enqueued once", async () => {
    const { answers, inTime } = (await outcome()).same;
    const last = START + 40_000;
    expect((answers as unknown[]).at(-1)).toEqual([
      [`gone.${last}`, 1],
      [`last.${last}`, 1],
      [`all.${START + MINUTE}`, 2],
      [`last.${last + 3 * MINUTE}`, 3],
      // Resumed in exactly that millisecond.
      ...[4, 5, 6, 7].map((minute) => [`all.${START + minute * MINUTE}`, 2]),
      [`last.${last + 6 * MINUTE}`, 3],
    ]);
    expect(inTime).toBe(true);
  });

  test("with the reply to any one request lost and the request sent again", async () => {
    const expected = await outcome();
    expect(expected.requests).toBeGreaterThan(20);
    for (let at = 0; at < expected.requests; at++) {
      const { same } = await outcome({ kind: "lost", at });
      expect({ at, ...same }).toEqual({ at, ...expected.same });
    }
  });

  // It runs the day some hundreds of times.
  test(
    "with the first copy of any one request running after any later one",
    { timeout: 120_000 },
    async () => {
      const expected = await outcome();
      for (let at = 0; at < expected.requests; at++) {
        for (let after = at; after < expected.requests; after++) {
          const { same } = await outcome({ kind: "late", at, after });
          expect({ at, after, ...same }).toEqual({ at, after, ...expected.same });
        }
      }
    },
  );
});
