import { describe, expect, test } from "vitest";
import { Queue, type Transport } from "../../../src/index.ts";
import { START, useRig } from "../../support/rig.ts";
import { FIRST, MINUTE, minutely, scheduling } from "../../support/scheduling.ts";

const rig = useRig();
const { schedules, schedulesOf, run, sweepAt, between, dying, reminder, waiting } = scheduling(rig);
const hourly = { every: "1h", from: FIRST, payload: 1 } as const;

describe("many sweeps at once", () => {
  test("enqueue each occurrence of each schedule once, and report so in their counts", async () => {
    const names = Array.from({ length: 12 }, (_, i) => `s${i}`);
    const queues = ["q0", "q1", "q2"];
    for (const [i, name] of names.entries())
      await schedules(queues[i % 3]).put(name, { ...minutely, missed: "all" });
    let scheduled = 0;
    for (const minute of [0, 2, 4]) {
      const reports = await Promise.all(Array.from({ length: 8 }, () => sweepAt(minute)));
      scheduled += reports.reduce((sum, report) => sum + report.scheduled, 0);
      expect(reports.flatMap(({ failed }) => failed)).toEqual([]);
    }
    expect(scheduled).toBe(12 * 5);
    const delivered: string[] = [];
    for (const queue of queues) {
      const its = new Queue(queue, { transport: rig.transport, now: () => rig.now });
      delivered.push(...(await its.dequeue({ max: 100 })).map(({ id }) => id));
    }
    const expected = names.flatMap((name) => [0, 1, 2, 3, 4].map((i) => `${name}.${FIRST + i * MINUTE}`));
    expect(delivered.toSorted()).toEqual(expected.toSorted());
  });

  test("follow all schedules, also more than one call takes", async () => {
    for (let i = 0; i < 130; i++) await schedules().put(`s${i}`, minutely);
    const reports = await Promise.all([sweepAt(0), sweepAt(0)]);
    expect(reports.reduce((sum, { scheduled }) => sum + scheduled, 0)).toBe(130);
    expect(await reminder()).toBeLessThanOrEqual(FIRST + MINUTE);
    expect(await sweepAt(1)).toMatchObject({ scheduled: 130, more: false });
    expect(await reminder()).toBe(FIRST + 2 * MINUTE);
  });
});

test.each([0, 1, 2, 3].flatMap((at) => [[at, false] as const, [at, true] as const]))(
  "a sweep that is killed at its request %i (which ran: %s) loses no occurrence and repeats none",
  async (at, ran) => {
    await schedules().put("x", minutely);
    await expect(sweepAt(0, dying(at, ran))).rejects.toThrow("killed");
    await run();
    expect(await waiting()).toEqual([0]);
    await sweepAt(1);
    expect(await waiting()).toEqual([0, 1]);
    expect(await reminder()).toBe(FIRST + 2 * MINUTE);
  },
);

describe("a schedule that is written during a sweep", () => {
  test.each([1, 2, 3])("after request %i: a new schedule's occurrence is not late", async (at) => {
    await schedules().put("x", hourly);
    const put = () => schedules().put("y", { every: "1d", from: FIRST + MINUTE, payload: 1 });
    await sweepAt(0, between(at, put));
    expect(await reminder()).toBeLessThanOrEqual(FIRST + MINUTE);
    await sweepAt(1);
    expect((await rig.space()).pending.toSorted()).toEqual([`x.${FIRST}`, `y.${FIRST + MINUTE}`]);
  });

  test.each([1, 2])("after request %i: a changed schedule is followed in its new form", async (at) => {
    await schedules().put("x", hourly);
    const put = () => schedules().put("x", { ...hourly, from: FIRST + MINUTE, payload: 2 });
    await sweepAt(0, between(at, put));
    await run();
    expect((await rig.space()).pending).toEqual([]);
    await sweepAt(1);
    expect((await rig.queue().dequeue({ max: 9 })).map(({ payload }) => payload)).toEqual([2]);
  });

  test("after it was read: a schedule with a new interval and the same next occurrence continues by the new one", async () => {
    await schedules().put("x", hourly);
    const put = () => schedules().put("x", { ...hourly, every: "7m" });
    await sweepAt(0, between(2, put));
    await run();
    expect(await waiting()).toEqual([0]);
    expect(await schedules().get("x")).toMatchObject({ nextAt: FIRST + 7 * MINUTE });
  });

  test("after it was read: a schedule that was paused and resumed does not make up for the pause", async () => {
    await schedules().put("x", minutely);
    rig.now = FIRST + 1;
    const resuming = between(2, async () => {
      await schedules().pause("x");
      await schedules().resume("x");
    });
    await run(resuming);
    await run();
    expect(await waiting()).toEqual([]);
    expect(await schedules().get("x")).toMatchObject({ nextAt: FIRST + MINUTE, lastAt: null });
  });

  test("with a sweep between the writes of its reminder and itself: it has a reminder again", async () => {
    const split: Transport = {
      send: async (commands, options) => {
        const outcomes = [];
        for (const [i, command] of commands.entries()) {
          outcomes.push(...(await rig.transport.send([command], options)));
          if (i === 0 && commands.length > 1) await run();
        }
        return outcomes;
      },
    };
    await schedulesOf(split).put("x", { every: "1h", from: START, payload: 1 });
    expect(await reminder()).toBeLessThanOrEqual(START);
    expect(await run()).toMatchObject({ scheduled: 1 });
  });

  test.each([1, 2])("after request %i: a paused or removed schedule does not occur", async (at) => {
    await schedules().put("x", minutely);
    await schedules().put("y", minutely);
    const ending = between(at, async () => {
      await schedules().pause("x");
      await schedules().remove("y");
    });
    await sweepAt(0, ending);
    expect((await rig.space()).pending).toEqual([]);
  });
});
