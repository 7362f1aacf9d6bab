import { afterEach, describe, expect, test, vi } from "vitest";
import { QUEUE, START, useRig } from "../../support/rig.ts";
import { FIRST, MINUTE, minutely, scheduling } from "../../support/scheduling.ts";

const rig = useRig();
const { instance, schedules, run, sweepAt, waiting } = scheduling(rig);
afterEach(() => vi.restoreAllMocks());

describe("an occurrence", () => {
  test("is a task like an enqueued one, with the schedule and the time in its headers", async () => {
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

  test("takes its turn among the groups, with its priority", async () => {
    await schedules().put("low", { ...minutely, group: "a" });
    await schedules().put("high", { ...minutely, group: "b", priority: 5 });
    await rig.queue().enqueue(0, { id: "first", group: "a" });
    expect(await sweepAt(0)).toMatchObject({ scheduled: 2 });
    const tasks = await rig.queue().dequeue({ max: 10 });
    expect(tasks.map(({ id, group }) => [id, group])).toEqual([
      [`high.${FIRST}`, "b"],
      ["first", "a"],
      [`low.${FIRST}`, "a"],
    ]);
  });

  test("waits if its group is at its limit", async () => {
    await rig.operator().configureGroup("a", { maxWorking: 1 });
    await schedules().put("x", { ...minutely, group: "a", missed: "all" });
    expect(await sweepAt(2)).toMatchObject({ scheduled: 3 });
    expect((await rig.queue().dequeue({ max: 10 })).map(({ id }) => id)).toEqual([`x.${FIRST}`]);
    expect((await rig.space()).limited.size).toBe(2);
  });

  test("with an id that is already known counts as enqueued", async () => {
    await schedules().put("x", { ...minutely, missed: "all" });
    await rig.queue().enqueue("mine", { id: `x.${FIRST + MINUTE}` });
    expect(await sweepAt(2)).toMatchObject({ scheduled: 2 });
    const tasks = await rig.queue().dequeue({ max: 10 });
    expect(tasks.map(({ payload }) => payload)).toEqual(["mine", 1, 1]);
    expect(await schedules().get("x")).toMatchObject({ lastAt: rig.now });
  });

  test("wakes a consumer; in a paused queue it is enqueued, but not dequeued", async () => {
    const woken: string[] = [];
    await schedules().put("x", minutely);
    rig.now = FIRST;
    const report = await run(instance(), { wake: { wake: (queue) => woken.push(queue) } });
    expect([report.scheduled, report.woken, woken]).toEqual([1, 1, [QUEUE]]);
    await rig.queue().dequeue();
    await rig.operator().pause();
    expect(await sweepAt(1)).toMatchObject({ scheduled: 1 });
    expect(await rig.queue().dequeue()).toHaveLength(0);
    expect(await waiting()).toEqual([1]);
  });
});

describe("after an outage", () => {
  test("each missed occurrence is enqueued on request, oldest first, in bounded calls", async () => {
    await schedules().put("x", { ...minutely, missed: "all" });
    rig.now = FIRST + 999 * MINUTE;
    expect(await run(instance(), { limit: 300 })).toMatchObject({ scheduled: 1_000, more: false });
    expect(await waiting()).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
    expect(await schedules().get("x")).toMatchObject({ nextAt: FIRST + 1_000 * MINUTE });
  });

  test("the next sweep continues if time is up; each takes a step, however slow its requests are", async () => {
    await schedules().put("x", { ...minutely, missed: "all" });
    rig.now = FIRST + 2 * MINUTE;
    expect(await run(instance(), { budget: 0, limit: 1 })).toMatchObject({ scheduled: 1, more: true });
    expect(await run()).toMatchObject({ scheduled: 2, more: false });
  });

  test("queues are swept and their consumers woken, also with many missed occurrences", async () => {
    await schedules("ticks").put("x", { every: "1s", payload: 1, missed: "all" });
    await rig.queue().enqueue(1, { id: "late", delay: "1m" });
    rig.now = START + 365 * 24 * 60 * MINUTE;
    // A simulated clock: each request takes 100 ms.
    let clock = 0;
    vi.spyOn(performance, "now").mockImplementation(() => clock);
    const slow = instance(() => (clock += 100));
    const woken: string[] = [];
    const wake = { wake: (queue: string) => woken.push(queue) };
    const report = await run(slow, { budget: 4_000, wake });
    expect(report).toMatchObject({ queues: 2, scheduled: 10 * 200, promoted: 1, more: true });
    expect(woken.toSorted()).toEqual([QUEUE, "ticks"]);
  });

  test("a clock that jumps back repeats nothing, also for a schedule that is resumed meanwhile", async () => {
    await schedules().put("x", { ...minutely, resultTtl: 0 });
    await sweepAt(10);
    await (await rig.queue().dequeue())[0]?.complete();
    expect(await sweepAt(0)).toMatchObject({ scheduled: 0 });
    await schedules().pause("x");
    await schedules().resume("x");
    expect(await schedules().get("x")).toMatchObject({ nextAt: FIRST + 11 * MINUTE });
  });
});
