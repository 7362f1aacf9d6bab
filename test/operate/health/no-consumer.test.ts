import { describe, expect, test } from "vitest";
import { many } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { looking } from "./looking.ts";

// Tasks wait, and who should take them does not.

const rig = useRig();
const MINUTE = 60_000;
const { health, findings } = looking(rig);

describe("tasks that no consumer takes", () => {
  const DEPLOYED = "is a consumer deployed, and does cron or a wake start it? Look at the platform's log";

  test("have no consumer, or one that was last seen long ago", async () => {
    await rig.queue().enqueue(1);
    rig.now += 10 * MINUTE;
    expect(await findings()).toEqual([]);
    rig.now += 1;
    const text = "1 pending, the next enqueued 10m ago, and no consumer works";
    expect(await findings()).toEqual([["no_consumer", "problem", text, DEPLOYED]]);
    const worker = { name: "mailer-1" };
    const [task] = await rig.queue().dequeue({ worker });
    await task!.complete();
    await rig.queue().enqueue(2);
    rig.now += 15 * MINUTE;
    const seen =
      "1 pending, the next enqueued 15m ago, and no consumer works; a worker was last seen 15m ago";
    expect(await findings()).toEqual([["no_consumer", "problem", seen, DEPLOYED]]);
    await rig.queue().heartbeat(worker);
    rig.now += MINUTE;
    const stuck = "1 pending, the next enqueued 16m ago, and none is taken, but a worker was seen 1m ago";
    expect(await findings()).toEqual([
      ["nothing_taken", "problem", stuck, "restart the consumer; its log may say what holds it up"],
    ]);
  });

  test("are not said to have none once a server that was restarted works", async () => {
    await rig.queue().enqueueMany(many(243));
    const [last] = await rig.queue().dequeue({ worker: { name: "server", incarnation: "1" } });
    await last!.complete();
    rig.now += 16 * MINUTE;
    expect((await findings()).map(([code]) => code)).toEqual(["no_consumer"]);
    await rig.queue().dequeue({ max: 5, worker: { name: "server", incarnation: "2" } });
    expect(await findings()).toEqual([]);
  });

  test("are not said to have none while deliveries go on, as statistics show, or the rate allows none", async () => {
    await rig.operator().configure({ statistics: true });
    await rig.queue().enqueueMany([{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    rig.now += 30 * MINUTE;
    const [task] = await rig.queue().dequeue();
    await task!.complete();
    rig.now += 9 * MINUTE;
    expect(await findings()).toEqual([]);
    rig.now += 3 * MINUTE;
    expect((await findings()).map(([code]) => code)).toEqual(["no_consumer"]);
    await rig.operator().configure({ rate: { most: 1, per: "1h" } });
    expect(await findings()).toEqual([]);
  });

  test("are not said to have none between the deliveries that a rate allows, also without statistics", async () => {
    for (const partitions of [1, 2]) {
      await rig.command("FLUSHALL");
      const queue = rig.queue({ partitions });
      await rig.operator({ partitions }).configure({ rate: { most: 2, per: "1m" } });
      await queue.enqueueMany(many(20));
      rig.now += 15 * MINUTE;
      const [task] = await queue.dequeue();
      await task!.complete();
      rig.now += MINUTE;
      expect(await findings()).toEqual([]);
      rig.now += 10 * MINUTE;
      expect((await findings()).map(([code]) => code)).toEqual(["no_consumer"]);
    }
  });

  test("of a paused queue wait for its operator", async () => {
    await rig.queue().enqueue(1);
    await rig.operator().pause();
    rig.now += 60 * MINUTE;
    const paused = ["paused", "warning", "paused, with 1 pending", "sluice resume emails"];
    expect(await findings()).toEqual([paused]);
  });

  test("wait for maxWorking of the queue", async () => {
    await rig.operator().configure({ maxWorking: 1 });
    await rig.queue().enqueueMany([{ payload: 1 }, { payload: 2 }]);
    await rig.queue().dequeue({ lease: "1h" });
    rig.now += 11 * MINUTE;
    const text = "1 pending, the next enqueued 11m ago, and 1 working are its maxWorking";
    const advice = "raise the limit, if it is not meant: sluice settings emails maxWorking=…";
    expect(await findings()).toEqual([["queue_at_limit", "warning", text, advice]]);
  });

  test("wait for the operator who has paused their group", async () => {
    await rig.operator().configureGroup("tenant-7", { paused: true });
    await rig.queue().enqueueMany([
      { payload: 1, group: "tenant-7" },
      { payload: 2, group: "tenant-7" },
    ]);
    const text = "2 of group tenant-7 wait, because it is paused, the next enqueued just now";
    const advice = "sluice settings emails --group tenant-7 paused=off";
    expect(await findings()).toEqual([["group_paused", "warning", text, advice]]);
  });

  test("name five groups at a limit, and no more", async () => {
    const names = Array.from({ length: 7 }, (_, i) => `g${i}`);
    for (const name of names) await rig.operator().configureGroup(name, { maxWorking: 1 });
    await rig
      .queue()
      .enqueueMany([...names, ...names].map((group) => ({ payload: 1, group, lease: "1h" }) as const));
    await rig.queue().dequeue({ max: 7 });
    rig.now += 12 * MINUTE;
    expect((await health()).findings.at(-1)).toMatchObject({ names: names.slice(0, 5) });
  });

  test("wait for the limits of their groups", async () => {
    await rig.operator().configureGroup("tenant-7", { maxWorking: 1 });
    await rig.operator().configureGroup("it's", { rate: { most: 1, per: "2h" } });
    const group = (name: string) => ({ payload: 1, group: name, lease: "1h" }) as const;
    await rig
      .queue()
      .enqueueMany(["tenant-7", "tenant-7", "tenant-7", "it's", "it's", "free"].map((name) => group(name)));
    await rig.queue().dequeue({ max: 6 });
    rig.now += 12 * MINUTE;
    const SET = String(await rig.command("HGET", "sluice:{emails}:tasks", "~s:tenant-7"));
    expect((await health()).findings.at(-1)).toEqual({
      status: "warning",
      code: "group_at_limit",
      about: QUEUE,
      queue: QUEUE,
      found:
        "2 of group tenant-7 wait for its maxWorking 1, the next enqueued 12m ago; other groups wait too",
      advice: "raise the limit, if it is not meant: sluice settings emails --group tenant-7 maxWorking=…",
      names: ["tenant-7", "it's"],
    });
    await rig.command("HSET", "sluice:{emails}:tasks", "~s:tenant-7", "3;new");
    expect((await health()).findings.at(-1)).toMatchObject({ names: ["it's"] });
    await rig.command("HSET", "sluice:{emails}:tasks", "~s:tenant-7", SET);
    await rig.operator().configureGroup("tenant-7", { maxWorking: null });
    const text = "1 of group it's wait for its rate 1 per 2h, the next enqueued 12m ago";
    const advice = `raise the limit, if it is not meant: sluice settings emails --group 'it'\\''s' rate=…`;
    expect((await findings()).at(-1)).toEqual(["group_at_limit", "warning", text, advice]);
  });
});
