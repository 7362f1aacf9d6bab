import { describe, expect, test } from "vitest";
import { type Command, Schedules, SluiceError, type Transport } from "../../../src/index.ts";
import { key, QUEUE, START, useRig } from "../../support/rig.ts";
import { FIRST, MINUTE, minutely, scheduling } from "../../support/scheduling.ts";

const rig = useRig();
const { instance, schedules, run, reminder } = scheduling(rig);

describe("reminders", () => {
  test("are followed for the queues that the caller sweeps", async () => {
    await schedules("mails").put("x", minutely);
    await schedules("other").put("x", minutely);
    rig.now = FIRST;
    expect(await run(instance(), { queues: (name) => name === "mails" })).toMatchObject({
      queues: 1,
      scheduled: 1,
    });
    expect(await run()).toMatchObject({ queues: 2, scheduled: 1 });
  });

  test("are for the first occurrence of a queue's schedules, put in any order", async () => {
    await schedules().put("daily", { every: "1d", payload: 1 });
    expect(await reminder()).toBe(START + 86_400_000);
    await schedules().put("minutely", minutely);
    expect(await reminder()).toBe(FIRST);
    await schedules().put("yearly", { every: "365d", payload: 1 });
    await schedules().put("daily", { every: "2d", payload: 1 });
    expect(await reminder()).toBe(FIRST);
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 1 });
    expect(await reminder()).toBe(FIRST + MINUTE);
  });

  test.each([0, 1])("that Redis refuses fail the put, before and after the schedule: %s", async (refused) => {
    const failure = new SluiceError("queue_full", "Redis has no room");
    let sent = 0;
    const transport: Transport = {
      send: async (commands, options) => {
        const outcomes = await rig.transport.send(commands, options);
        const isRefused = (one: Command) =>
          "script" in one && one.script.name === "setReminder" && sent++ === refused;
        return outcomes.map((outcome, i) => (isRefused(commands[i]!) ? { error: failure } : outcome));
      },
    };
    const put = new Schedules(QUEUE, { transport, now: () => rig.now }).put("x", minutely);
    await expect(put).rejects.toBe(failure);
  });

  test("suffice to wake the consumer of a queue that the registry has lost", async () => {
    await schedules().put("x", minutely);
    await rig.command("ZREM", "sluice:queues", QUEUE);
    rig.now = FIRST;
    const woken: string[] = [];
    const report = await run(instance(), { wake: { wake: (queue) => woken.push(queue) } });
    expect(report).toMatchObject({ queues: 1, scheduled: 1 });
    expect(woken).toEqual([QUEUE]);
  });

  test("keep a long empty queue registered, and are removed with its last schedule", async () => {
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
    expect(left).toEqual([key("operator-calls"), key("tasks")]);
  });

  test("are kept for paused schedules, without a due time", async () => {
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

  test("of removed schedules are removed at their time", async () => {
    await schedules().put("x", minutely);
    await rig.queue().enqueue(0);
    await schedules().remove("x");
    rig.now = FIRST;
    expect(await run()).toMatchObject({ scheduled: 0, failed: [] });
    expect(await reminder()).toBeNull();
  });

  test("are removed with a deleted queue, and its schedules too", async () => {
    await schedules().put("x", minutely);
    expect(await rig.operator().deleteQueue()).toEqual({ ok: true });
    expect(Object.keys(await rig.keySpace())).toEqual([key("operator-calls")]);
    rig.now = FIRST;
    expect(await run()).toMatchObject({ queues: 0, scheduled: 0 });
    await schedules().put("x", minutely);
    rig.now += MINUTE;
    expect(await run()).toMatchObject({ scheduled: 1 });
  });
});
