import { afterEach, describe, expect, test, vi } from "vitest";
import { type Transport } from "../../../src/index.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";
import { FIRST, MINUTE, minutely, scheduling } from "../../support/scheduling.ts";

const rig = useRig();
const { schedules, run, waiting } = scheduling(rig);
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

  test("with a payload of bytes has it unchanged", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    await schedules().put("x", { ...minutely, payload: bytes });
    rig.now = FIRST;
    await run();
    expect((await rig.queue().dequeue())[0]?.payload).toEqual(bytes);
  });

  test("comes at its time, not a millisecond earlier, and once", async () => {
    await schedules().put("x", minutely);
    rig.now = FIRST - 1;
    expect(await run()).toMatchObject({ scheduled: 0 });
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 1 });
    const before = await rig.keySpace();
    expect(await run()).toMatchObject({ scheduled: 0 });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("takes its turn among the groups, with its priority", async () => {
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

  test("waits if its group is at its limit", async () => {
    await rig.operator().configureGroup("a", { maxWorking: 1 });
    await schedules().put("x", { ...minutely, group: "a", missed: "all" });
    rig.now = FIRST + 2 * MINUTE;
    expect(await run()).toMatchObject({ scheduled: 3 });
    expect((await rig.queue().dequeue({ max: 10 })).map(({ id }) => id)).toEqual([`x.${FIRST}`]);
    expect((await rig.space()).limited.size).toBe(2);
  });

  test("is counted as enqueued", async () => {
    await rig.operator().configure({ statistics: true });
    await schedules().put("x", minutely);
    rig.now = FIRST;
    await run();
    expect((await rig.operator().statistics()).minutes.at(-1)).toMatchObject({ enqueued: 1 });
  });

  test("with an id that is already known counts as enqueued", async () => {
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

  test("is enqueued in a paused queue, but not dequeued", async () => {
    await rig.operator().pause();
    await schedules().put("x", minutely);
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 1 });
    expect(await rig.queue().dequeue()).toHaveLength(0);
  });
});

describe("after an outage", () => {
  test("the last missed occurrence is enqueued, and later ones at their time", async () => {
    await schedules().put("x", minutely);
    rig.now = FIRST + 60 * MINUTE + 30_000;
    expect(await run()).toMatchObject({ scheduled: 1, more: false });
    expect(await waiting()).toEqual([60 * MINUTE]);
    rig.now += 30_000;
    await run();
    expect(await waiting()).toEqual([60 * MINUTE, 61 * MINUTE]);
  });

  test("each missed occurrence is enqueued on request, oldest first, in bounded calls", async () => {
    await schedules().put("x", { ...minutely, missed: "all" });
    rig.now = FIRST + 999 * MINUTE;
    expect(await run({ limit: 300 })).toMatchObject({ scheduled: 1_000, more: false });
    expect(await waiting()).toEqual(Array.from({ length: 1_000 }, (_, i) => i * MINUTE));
    expect(await schedules().get("x")).toMatchObject({ nextAt: FIRST + 1_000 * MINUTE });
  });

  test("the next sweep continues if time is up; each takes a step, however slow its requests are", async () => {
    await schedules().put("x", { ...minutely, missed: "all" });
    rig.now = FIRST + 2 * MINUTE;
    expect(await run({ budget: 0, limit: 1 })).toMatchObject({ scheduled: 1, more: true });
    expect(await run()).toMatchObject({ scheduled: 2, more: false });
  });

  test("queues are swept and their consumers woken, also with many missed occurrences", async () => {
    await schedules("ticks").put("x", { every: "1s", payload: 1, missed: "all" });
    await rig.queue().enqueue(1, { id: "late", delay: "1m" });
    rig.now = START + 365 * 24 * 60 * MINUTE;
    // A simulated clock: each request takes 100 ms.
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

  test("no occurrence after the end of a schedule is made up for", async () => {
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

  test("occurrences missed in a pause are not made up for", async () => {
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

  test("a clock that jumps back repeats nothing, also for a schedule that is resumed meanwhile", async () => {
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
