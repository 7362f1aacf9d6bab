import { afterEach, describe, expect, test, vi } from "vitest";
import { Queue, Schedules, sweep, type Transport } from "../../src/index.ts";
import { roomFor } from "../support/no-room.ts";
import { key, QUEUE, START, useRig } from "../support/rig.ts";

const rig = useRig();
afterEach(() => vi.restoreAllMocks());
const schedules = (queue = QUEUE) => new Schedules(queue, { transport: rig.transport, now: () => rig.now });
const run = (options: Parameters<typeof sweep>[1] = {}, transport = rig.transport) =>
  sweep(transport, { now: () => rig.now, ...options });

const MINUTE = 60_000;
/** START is 20 s after a minute. */
const FIRST = START + 40_000;
const minutely = { cron: "* * * * *", payload: 1 } as const;

const reminder = async (queue = QUEUE) => {
  const score = await rig.command("ZSCORE", "sluice:queues", `~${queue}`);
  return score === null ? null : Number(score);
};
/** Times of the occurrences that are pending, oldest first, ms after the first minute. */
const waiting = async (name = "x") =>
  (await rig.space()).pending.toReversed().map((id) => {
    expect(id).toMatch(new RegExp(`^${name}\\.\\d{13}$`));
    return Number(id.slice(name.length + 1)) - FIRST;
  });

describe("an occurrence", () => {
  test("is a task as an enqueue makes it, with the schedule and the time in its headers", async () => {
    const task = { lease: "1m", maxAttempts: 2, resultTtl: 0, headers: { trace: "ä" } } as const;
    await schedules().put("x", { ...minutely, ...task, payload: { to: "ü \u0000 😀" } });
    rig.now = FIRST + 5;
    expect(await run()).toMatchObject({ queues: 1, scheduled: 1, more: false, failed: [] });
    const [leased] = await rig.queue().dequeue();
    expect(leased).toMatchObject({
      id: `x.${FIRST}`,
      payload: { to: "ü \u0000 😀" },
      enqueuedAt: FIRST + 5,
      deadlineAt: FIRST + 5 + MINUTE,
      headers: { trace: "ä", schedule: "x", "scheduled-at": String(FIRST) },
    });
    await leased?.reject();
    expect(await schedules().get("x")).toMatchObject({ lastAt: FIRST, nextAt: FIRST + MINUTE });
  });

  test("of bytes has them as they were", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    await schedules().put("x", { ...minutely, payload: bytes });
    rig.now = FIRST;
    await run();
    expect((await rig.queue().dequeue())[0]?.payload).toEqual(bytes);
  });

  test("is not before its time, and then once, also where it is that very millisecond", async () => {
    await schedules().put("x", minutely);
    rig.now = FIRST - 1;
    expect(await run()).toMatchObject({ scheduled: 0 });
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 1 });
    const before = await rig.keySpace();
    expect(await run()).toMatchObject({ scheduled: 0 });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("has its turn among the groups, with its priority", async () => {
    await schedules().put("low", { ...minutely, group: "a" });
    await schedules().put("high", { ...minutely, group: "b", priority: 5 });
    await rig.queue().enqueue(0, { id: "first", group: "a" });
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 2 });
    const tasks = await rig.queue().dequeue({ max: 10 });
    expect(tasks.map(({ id, group }) => [id, group])).toEqual([
      [`high.${FIRST}`, "b"],
      ["first", "a"],
      [`low.${FIRST}`, "a"],
    ]);
  });

  test("waits where its group is at its limit", async () => {
    await rig.operator().configureGroup("a", { maxWorking: 1 });
    await schedules().put("x", { ...minutely, group: "a", missed: "all" });
    rig.now = FIRST + 2 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 3 });
    expect((await rig.queue().dequeue({ max: 10 })).map(({ id }) => id)).toEqual([`x.${FIRST}`]);
    expect((await rig.space()).held.size).toBe(2);
  });

  test("is counted as enqueued", async () => {
    await rig.operator().configure({ statistics: true });
    await schedules().put("x", minutely);
    rig.now = FIRST;
    await run();
    expect((await rig.operator().statistics()).minutes.at(-1)).toMatchObject({ enqueued: 1 });
  });

  test("whose id is known already counts as enqueued", async () => {
    await schedules().put("x", { ...minutely, missed: "all" });
    await rig.queue().enqueue("mine", { id: `x.${FIRST + MINUTE}` });
    rig.now = FIRST + 2 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 2 });
    const tasks = await rig.queue().dequeue({ max: 10 });
    expect(tasks.map(({ payload }) => payload)).toEqual(["mine", 1, 1]);
    expect(await schedules().get("x")).toMatchObject({ lastAt: rig.now });
  });

  test("wakes a consumer", async () => {
    const woken: string[] = [];
    await schedules().put("x", minutely);
    rig.now = FIRST;
    const report = await run({ wake: { wake: (queue) => woken.push(queue) } });
    expect([report.scheduled, report.woken, woken]).toEqual([1, 1, [QUEUE]]);
  });

  test("stays away from a paused queue's dequeues, but not from the queue", async () => {
    await rig.operator().pause();
    await schedules().put("x", minutely);
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 1 });
    expect(await rig.queue().dequeue()).toHaveLength(0);
  });
});

describe("after an outage", () => {
  test("the last occurrence that was missed is enqueued, and those to come in their time", async () => {
    await schedules().put("x", minutely);
    rig.now = FIRST + 60 * MINUTE + 30_000;
    expect(await run()).toMatchObject({ scheduled: 1, more: false });
    expect(await waiting()).toEqual([60 * MINUTE]);
    rig.now += 30_000;
    await run();
    expect(await waiting()).toEqual([60 * MINUTE, 61 * MINUTE]);
  });

  test("or each of them, oldest first, in bounded calls", async () => {
    await schedules().put("x", { ...minutely, missed: "all" });
    rig.now = FIRST + 999 * MINUTE;
    expect(await run({ limit: 300 })).toMatchObject({ scheduled: 1_000, more: false });
    expect(await waiting()).toEqual(Array.from({ length: 1_000 }, (_, i) => i * MINUTE));
    expect(await schedules().get("x")).toMatchObject({ nextAt: FIRST + 1_000 * MINUTE });
  });

  test("goes on with the next sweep where time is up", async () => {
    await schedules().put("x", { ...minutely, missed: "all" });
    rig.now = FIRST + 2 * MINUTE;
    expect(await run({ budget: 0 })).toMatchObject({ scheduled: 0, more: true });
    expect(await run()).toMatchObject({ scheduled: 3, more: false });
  });

  test("however many were missed, queues are swept too, and their consumers woken", async () => {
    await schedules("ticks").put("x", { every: "1s", payload: 1, missed: "all" });
    await rig.queue().enqueue(1, { id: "late", delay: "1m" });
    rig.now = START + 365 * 24 * 60 * MINUTE;
    // A clock of its own: each request takes 100 ms.
    let clock = 0;
    vi.spyOn(performance, "now").mockImplementation(() => clock);
    const slow: Transport = {
      send: (commands, options) => {
        clock += 100;
        return rig.transport.send(commands, options);
      },
    };
    const woken: string[] = [];
    const wake = { wake: (queue: string) => woken.push(queue) };
    const report = await run({ budget: 4_000, wake }, slow);
    expect(report).toMatchObject({ queues: 2, scheduled: 10 * 200, promoted: 1, more: true });
    expect(woken.toSorted()).toEqual([QUEUE, "ticks"]);
  });

  test("an interval keeps its rhythm", async () => {
    await schedules().put("x", { every: "7m", from: FIRST, payload: 1 });
    rig.now = FIRST + 3 * 7 * MINUTE + 12_345;
    await run();
    expect(await waiting()).toEqual([21 * MINUTE]);
    expect(await schedules().get("x")).toMatchObject({ nextAt: FIRST + 28 * MINUTE });
  });

  test("nothing after the end is made up for", async () => {
    await schedules().put("last", { ...minutely, until: FIRST + 2 * MINUTE });
    await schedules().put("x", { ...minutely, missed: "all", until: FIRST + 2 * MINUTE + 1 });
    rig.now = FIRST + 60 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 4 });
    await rig.queue().cancel(`last.${FIRST + 2 * MINUTE}`);
    await rig.queue().dequeue({ max: 10 });
    for (const name of ["last", "x"]) {
      expect(await schedules().get(name)).toMatchObject({ lastAt: FIRST + 2 * MINUTE, nextAt: null });
    }
    rig.now += 60 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 0 });
  });

  test("what a pause missed is not made up for", async () => {
    await schedules().put("x", { ...minutely, missed: "all" });
    await schedules().pause("x");
    rig.now = FIRST + 10 * MINUTE + 1;
    expect(await run()).toMatchObject({ scheduled: 0 });
    await schedules().resume("x");
    expect(await run()).toMatchObject({ scheduled: 0 });
    rig.now = FIRST + 11 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 1 });
    expect(await waiting()).toEqual([11 * MINUTE]);
  });

  test("a clock that jumps back repeats nothing, not even for a schedule that is resumed meanwhile", async () => {
    await schedules().put("x", { ...minutely, resultTtl: 0 });
    rig.now = FIRST + 10 * MINUTE;
    await run();
    await (await rig.queue().dequeue())[0]?.complete();
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 0 });
    await schedules().pause("x");
    await schedules().resume("x");
    expect(await schedules().get("x")).toMatchObject({ nextAt: FIRST + 11 * MINUTE });
  });
});

describe("with many sweeps at once", () => {
  test("each occurrence of each schedule comes once, and their counts say so together", async () => {
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

  test("more schedules than one call takes are all followed", async () => {
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

describe("a sweep that is killed", () => {
  /** A transport that dies at one of its requests, which may have run. */
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

describe("a schedule that is written while a sweep is at it", () => {
  /** Runs something after so many requests of a sweep. */
  const between = (requests: number, then: () => Promise<unknown>): Transport => {
    let sent = 0;
    return {
      send: async (commands, options) => {
        if (sent++ === requests) await then();
        return rig.transport.send(commands, options);
      },
    };
  };

  test.each([1, 2, 3])(
    "after request %i: its new occurrence is not late, wherever it lies",
    async (requests) => {
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
    },
  );

  test.each([1, 2])("after request %i: one that is changed is followed as it now is", async (requests) => {
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

  test("after it was read: one that has another interval now, though the same next occurrence, goes on by that", async () => {
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

  test("after it was read: one that was paused and resumed does not make up for the pause", async () => {
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

  test("with a sweep between its reminder and itself: a reminder is there again", async () => {
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

  test.each([1, 2])("after request %i: one that is paused or removed does not occur", async (requests) => {
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

describe("a full queue", () => {
  test("leaves a schedule as it was, to be tried again, and the report says so", async () => {
    await rig.operator().configure({ maxPending: 1 });
    await rig.queue().enqueue(0, { id: "other" });
    await schedules().put("x", minutely);
    rig.now = FIRST;
    const before = await rig.space();
    const full = [{ queue: QUEUE, code: "queue_full" }];
    expect(await run()).toMatchObject({ scheduled: 0, more: false, failed: full });
    expect(await rig.space()).toEqual(before);
    await (await rig.queue().dequeue())[0]?.complete();
    rig.now += 5 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 1, failed: [] });
    expect(await waiting()).toEqual([5 * MINUTE]);
  });

  test("takes as many as it has room for, and the others when it has more", async () => {
    await rig.operator().configure({ maxPending: 3 });
    await schedules().put("x", { ...minutely, missed: "all" });
    await schedules().put("y", { ...minutely, payload: 2 });
    rig.now = FIRST + 4 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 3, failed: [{ code: "queue_full" }] });
    expect((await rig.queue().dequeue({ max: 9 })).map(({ id }) => id)).toEqual(
      [0, 1, 2].map((i) => `x.${FIRST + i * MINUTE}`),
    );
    expect(await run()).toMatchObject({ scheduled: 3, failed: [] });
  });

  test("of which Redis has no room enqueues nothing and moves nothing", async () => {
    await schedules().put("x", minutely);
    rig.now = FIRST;
    const before = await rig.keySpace();
    const report = await run({}, roomFor(rig.transport, 0));
    expect(report).toMatchObject({ scheduled: 0, failed: [{ queue: QUEUE, code: "queue_full" }] });
    expect(await rig.keySpace()).toEqual(before);
    expect(await run()).toMatchObject({ scheduled: 1, failed: [] });
  });

  test("many large occurrences come in calls of some megabytes", async () => {
    const payload = "x".repeat(1_000_000);
    await schedules().put("x", { ...minutely, payload, missed: "all" });
    for (let i = 0; i < 20; i++) await schedules().put(`y${i}`, { ...minutely, payload });
    rig.now = FIRST + 19 * MINUTE;
    const pending: number[] = [];
    const counting: Transport = {
      send: async (commands, options) => {
        const outcomes = await rig.transport.send(commands, options);
        pending.push((await rig.queue().counts()).pending);
        return outcomes;
      },
    };
    expect(await run({}, counting)).toMatchObject({ scheduled: 40, more: false, failed: [] });
    expect(pending.at(-1)).toBe(40);
    const steps = pending.map((count, i) => count - (pending[i - 1] ?? 0));
    expect(Math.max(...steps)).toBe(8);
  });
});

describe("a schedule that cannot be followed", () => {
  test.each([
    ["2;what=ever", "newer_schema"],
    ["junk", "unexpected_reply"],
    ["1;c=* * * * *;z=Mars/Olympus", "unsupported"],
    ["1;c=a b c d e;z=UTC", "unsupported"],
  ])(
    "for its record is %s is reported, stays, and keeps none of the others from it",
    async (record, code) => {
      await schedules().put("bad", minutely);
      await schedules().put("x", minutely);
      await rig.command("HSET", key("timetable"), ".bad", record);
      for (const minute of [0, 1]) {
        rig.now = FIRST + minute * MINUTE;
        expect(await run()).toMatchObject({ scheduled: 1, failed: [{ queue: QUEUE, code }] });
      }
      expect(await waiting()).toEqual([0, MINUTE]);
      expect((await rig.space()).timetable.get(".bad")).toBe(record);
    },
  );

  test.each(["its zone", "its record", "its task"])(
    "for %s, and many more than one call takes, keep none behind them from it",
    async (what) => {
      for (let i = 0; i < 120; i++) {
        await schedules().put(`bad${i}`, { every: "1m", from: FIRST - 2, payload: 1 });
        const record = what === "its zone" ? "1;c=* * * * *;z=Mars/Olympus" : "junk";
        if (what === "its task") await rig.command("HDEL", key("timetable"), `bad${i}`);
        else await rig.command("HSET", key("timetable"), `.bad${i}`, record);
        await schedules().put(`x${i}`, { every: "1m", from: FIRST - 1, payload: 1 });
      }
      const code = what === "its zone" ? "unsupported" : "unexpected_reply";
      for (let minute = 0; minute < 2; minute++) {
        rig.now = FIRST + minute * MINUTE;
        const failed = [{ queue: QUEUE, code }];
        expect(await run()).toMatchObject({ scheduled: 120, more: false, failed });
      }
      expect(await run()).toMatchObject({ scheduled: 0, more: false });
      for (let i = 0; i < 120; i++) await schedules().remove(`bad${i}`);
      expect(await run()).toMatchObject({ failed: [] });
      expect(await reminder()).toBe(FIRST + 2 * MINUTE - 1);
    },
  );

  test("costs a bounded number of requests, however many there are", async () => {
    const bad = Array.from({ length: 3_000 }, (_, i) => `bad${i}`);
    const records = bad.flatMap((name) => [name, "task", `.${name}`, "junk"]);
    await schedules().put("bad0", { every: "1h", from: FIRST, payload: 1 });
    await rig.command("HSET", key("timetable"), ...records);
    await rig.command("ZADD", key("schedules"), ...bad.flatMap((name) => [String(FIRST), name]));
    rig.now = FIRST;
    let requests = 0;
    const counting: Transport = {
      send: (commands, options) => {
        requests++;
        return rig.transport.send(commands, options);
      },
    };
    const failed = [{ queue: QUEUE, code: "unexpected_reply" }];
    expect(await run({}, counting)).toMatchObject({ scheduled: 0, more: false, failed });
    expect(requests).toBeLessThan(30);
    await rig.command("DEL", key("timetable"), key("schedules"));
  });

  test("does not keep other queues from it", async () => {
    await schedules("broken").put("x", minutely);
    await schedules().put("x", minutely);
    await rig.command("SET", "sluice:{broken}:schedules", "not a zset");
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 1, failed: [{ queue: "broken", code: "redis_error" }] });
  });
});

describe("reminders", () => {
  test("are for the queues that the caller sweeps", async () => {
    await schedules("mails").put("x", minutely);
    await schedules("other").put("x", minutely);
    rig.now = FIRST;
    expect(await run({ queues: (name) => name === "mails" })).toMatchObject({ queues: 1, scheduled: 1 });
    expect(await run()).toMatchObject({ queues: 2, scheduled: 1 });
  });

  test("are enough: the consumer of a queue that the registry has lost is woken", async () => {
    await schedules().put("x", minutely);
    await rig.command("ZREM", "sluice:queues", QUEUE);
    rig.now = FIRST;
    const woken: string[] = [];
    const report = await run({ wake: { wake: (queue) => woken.push(queue) } });
    expect(report).toMatchObject({ queues: 1, scheduled: 1 });
    expect(woken).toEqual([QUEUE]);
  });

  test("keep a queue registered that is empty for long, and go with its last schedule", async () => {
    await schedules().put("x", { every: "1d", payload: 1, resultTtl: 0 });
    for (let minute = 0; minute < 24 * 60; minute += 10) {
      expect(await run()).toMatchObject({ queues: 1, failed: [] });
      expect(await reminder()).toBe(START + 86_400_000);
      rig.now += 10 * MINUTE;
    }
    expect(await run()).toMatchObject({ scheduled: 1 });
    await (await rig.queue().dequeue())[0]?.complete();
    await schedules().remove("x");
    for (let minute = 0; minute < 100; minute++) {
      rig.now += MINUTE;
      await run();
    }
    const left = Object.keys(await rig.keySpace());
    expect(left).toEqual([key("calls"), key("tasks")]);
  });

  test("stay for paused schedules, with nothing to look at", async () => {
    await schedules().put("x", minutely);
    await schedules().pause("x");
    rig.now = FIRST;
    await run();
    expect(await reminder()).toBe(8_640_000_000_000_001);
    for (let minute = 0; minute < 200; minute++) {
      rig.now += MINUTE;
      expect(await run()).toMatchObject({ queues: 1, scheduled: 0 });
    }
    rig.now += 1;
    await schedules().resume("x");
    expect(await reminder()).toBe(FIRST + 201 * MINUTE);
  });

  test("of schedules that are gone go at their time", async () => {
    await schedules().put("x", minutely);
    await rig.queue().enqueue(0);
    await schedules().remove("x");
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 0, failed: [] });
    expect(await reminder()).toBeNull();
  });

  test("go with a deleted queue, and its schedules too", async () => {
    await schedules().put("x", minutely);
    expect(await rig.operator().deleteQueue()).toEqual({ ok: true });
    expect(Object.keys(await rig.keySpace())).toEqual([key("calls")]);
    rig.now = FIRST;
    expect(await run()).toMatchObject({ queues: 0, scheduled: 0 });
    await schedules().put("x", minutely);
    rig.now += MINUTE;
    expect(await run()).toMatchObject({ scheduled: 1 });
  });
});
