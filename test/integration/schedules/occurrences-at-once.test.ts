import { describe, expect, test } from "vitest";
import { Queue, Schedules, type Transport } from "../../../src/index.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";
import { FIRST, MINUTE, minutely, scheduling } from "../../support/scheduling.ts";

const rig = useRig();
const { schedules, run, reminder, waiting } = scheduling(rig);

describe("many sweeps at once", () => {
  test("enqueue each occurrence of each schedule once, and report so in their counts", async () => {
    const names = Array.from({ length: 30 }, (_, i) => `s${i}`);
    for (const name of names) {
      await schedules(`q${Number(name.slice(1)) % 3}`).put(name, { ...minutely, missed: "all" });
    }
    let scheduled = 0;
    for (let minute = 0; minute < 6; minute += 2) {
      rig.now = FIRST + minute * MINUTE;
      const reports = await Promise.all(Array.from({ length: 8 }, () => run()));
      scheduled += reports.reduce((sum, report) => sum + report.scheduled, 0);
      expect(reports.flatMap(({ failed }) => failed)).toEqual([]);
    }
    expect(scheduled).toBe(30 * 5);
    const delivered: string[] = [];
    for (const queue of ["q0", "q1", "q2"]) {
      const tasks = await new Queue(queue, { transport: rig.transport, now: () => rig.now }).dequeue({
        max: 100,
      });
      delivered.push(...tasks.map(({ id }) => id));
    }
    const expected = names.flatMap((name) => [0, 1, 2, 3, 4].map((i) => `${name}.${FIRST + i * MINUTE}`));
    expect(delivered.toSorted()).toEqual(expected.toSorted());
  });

  test("follow all schedules, also more than one call takes", async () => {
    for (let i = 0; i < 130; i++) await schedules().put(`s${i}`, minutely);
    rig.now = FIRST;
    const reports = await Promise.all([run(), run()]);
    expect(reports.reduce((sum, { scheduled }) => sum + scheduled, 0)).toBe(130);
    expect(await reminder()).toBeLessThanOrEqual(FIRST + MINUTE);
    rig.now += MINUTE;
    expect(await run()).toMatchObject({ scheduled: 130, more: false });
    expect(await reminder()).toBe(FIRST + 2 * MINUTE);
  });
});

describe("a killed sweep", () => {
  /** A transport that fails at one of its requests, which may have run. */
  function dying(at: number, ran: boolean): Transport {
    let sent = 0;
    return {
      send: async (commands, options) => {
        if (sent++ < at) return rig.transport.send(commands, options);
        if (ran) await rig.transport.send(commands, options);
        throw new Error("killed");
      },
    };
  }

  test.each([0, 1, 2, 3].flatMap((at) => [[at, false] as const, [at, true] as const]))(
    "at its request %i (which ran: %s) loses no occurrence and repeats none",
    async (at, ran) => {
      await schedules().put("x", minutely);
      rig.now = FIRST;
      await expect(run({}, dying(at, ran))).rejects.toThrow("killed");
      await run();
      expect(await waiting()).toEqual([0]);
      rig.now += MINUTE;
      await run();
      expect(await waiting()).toEqual([0, MINUTE]);
      expect(await reminder()).toBe(FIRST + 2 * MINUTE);
    },
  );
});

describe("a schedule that is written during a sweep", () => {
  /** Runs `then` after that many requests of a sweep. */
  const between = (requests: number, then: () => Promise<unknown>): Transport => {
    let sent = 0;
    return {
      send: async (commands, options) => {
        if (sent++ === requests) await then();
        return rig.transport.send(commands, options);
      },
    };
  };

  test.each([1, 2, 3])("after request %i: a new schedule's occurrence is not late", async (requests) => {
    await schedules().put("x", { every: "1h", from: FIRST, payload: 1 });
    rig.now = FIRST;
    await run(
      {},
      between(requests, () => schedules().put("y", { every: "1d", from: FIRST + MINUTE, payload: 1 })),
    );
    expect(await reminder()).toBeLessThanOrEqual(FIRST + MINUTE);
    rig.now = FIRST + MINUTE;
    await run();
    const ids = (await rig.space()).pending.toSorted();
    expect(ids).toEqual([`x.${FIRST}`, `y.${FIRST + MINUTE}`]);
  });

  test.each([1, 2])("after request %i: a changed schedule is followed in its new form", async (requests) => {
    await schedules().put("x", { every: "1h", from: FIRST, payload: 1 });
    rig.now = FIRST;
    await run(
      {},
      between(requests, () => schedules().put("x", { every: "1h", from: FIRST + MINUTE, payload: 2 })),
    );
    await run();
    expect((await rig.space()).pending).toEqual([]);
    rig.now = FIRST + MINUTE;
    await run();
    expect((await rig.queue().dequeue({ max: 9 })).map(({ payload }) => payload)).toEqual([2]);
  });

  test("after it was read: a schedule with a new interval and the same next occurrence continues by the new one", async () => {
    await schedules().put("x", { every: "1h", from: FIRST, payload: 1 });
    rig.now = FIRST;
    await run(
      {},
      between(2, () => schedules().put("x", { every: "7m", from: FIRST, payload: 1 })),
    );
    await run();
    expect(await waiting()).toEqual([0]);
    expect(await schedules().get("x")).toMatchObject({ nextAt: FIRST + 7 * MINUTE });
  });

  test("after it was read: a schedule that was paused and resumed does not make up for the pause", async () => {
    await schedules().put("x", minutely);
    rig.now = FIRST + 1;
    await run(
      {},
      between(2, async () => {
        await schedules().pause("x");
        await schedules().resume("x");
      }),
    );
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
    const own = new Schedules(QUEUE, { transport: split, now: () => rig.now });
    await own.put("x", { every: "1h", from: START, payload: 1 });
    expect(await reminder()).toBeLessThanOrEqual(START);
    expect(await run()).toMatchObject({ scheduled: 1 });
  });

  test.each([1, 2])("after request %i: a paused or removed schedule does not occur", async (requests) => {
    await schedules().put("x", minutely);
    await schedules().put("y", minutely);
    rig.now = FIRST;
    await run(
      {},
      between(requests, async () => {
        await schedules().pause("x");
        await schedules().remove("y");
      }),
    );
    expect((await rig.space()).pending).toEqual([]);
  });
});
