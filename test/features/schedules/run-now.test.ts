import { describe, expect, test } from "vitest";
import { Schedules } from "../../../src/index.ts";
import { encrypting } from "../../support/encrypting.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";
import { FIRST, minutely, scheduling } from "../../support/scheduling.ts";

const rig = useRig();
const { schedules, sweepAt } = scheduling(rig);

describe("a schedule that is run now", () => {
  const options = {
    lease: "1m",
    maxAttempts: 3,
    group: "a;b",
    priority: 7,
    headers: { trace: "ä" },
  } as const;

  test("enqueues its task, also while it is paused; its next occurrence stays as it is", async () => {
    await schedules().put("nightly", { ...minutely, ...options, payload: { text: "ü 😀" } });
    const before = await schedules().get("nightly");
    rig.now += 7;
    const id = `nightly.${START + 7}`;
    expect(await schedules().run("nightly")).toEqual({ ok: true, id, created: true });
    expect(await schedules().get("nightly")).toEqual(before);
    await schedules().pause("nightly");
    rig.now += 1;
    expect(await schedules().run("nightly")).toMatchObject({ ok: true, created: true });
    const [task] = await rig.queue().dequeue();
    expect(task).toMatchObject({
      id,
      payload: { text: "ü 😀" },
      group: "a;b",
      leasedFor: 60_000,
      headers: { trace: "ä", schedule: "nightly", "scheduled-at": String(START + 7) },
    });
    expect(await rig.queue().get(id)).toMatchObject({ priority: 7, options: { maxAttempts: 3 } });
  });

  test("adds one task for each idempotency key (law 5)", async () => {
    await schedules().put("nightly", { ...minutely, payload: 1 });
    const run = () => schedules().run("nightly", { idempotencyKey: "k" });
    const first = await run();
    rig.now += 5;
    expect(await run()).toEqual(first);
    expect(await schedules().run("nightly", { idempotencyKey: "other" })).not.toEqual(first);
    expect(await rig.queue().counts()).toMatchObject({ pending: 2 });
  });

  test("is no harm to an occurrence of the same millisecond, nor the other way round", async () => {
    await schedules().put("nightly", { ...minutely, payload: 1 });
    await sweepAt(0);
    expect(await schedules().run("nightly")).toEqual({ ok: true, id: `nightly.${FIRST}`, created: false });
    expect(await rig.queue().counts()).toMatchObject({ pending: 1 });
  });

  test("of a queue with encryption can be read with the key", async () => {
    const sealed = { encryption: encrypting() };
    await new Schedules(QUEUE, { transport: rig.transport, now: () => rig.now, ...sealed }).put("nightly", {
      ...minutely,
      payload: "secret",
    });
    // It needs no key.
    await schedules().run("nightly");
    const [task] = await rig.queue(sealed).dequeue();
    expect(task?.payload).toBe("secret");
  });

  test("of a queue with partitions goes to that of its group", async () => {
    await rig.operator().resize(4);
    await schedules().put("nightly", { ...minutely, payload: 1, group: "g" });
    expect(await schedules().run("nightly")).toMatchObject({ ok: true, created: true });
    const queue = rig.queue({ partitions: 4 });
    await queue.enqueue(2, { group: "g" });
    const tasks = await queue.dequeue({ max: 2 });
    expect(tasks.map(({ payload, group }) => [payload, group])).toEqual([
      [1, "g"],
      [2, "g"],
    ]);
  });

  test("must exist", async () => {
    expect(await schedules().run("none")).toEqual({ ok: false, code: "not_found" });
  });
});
