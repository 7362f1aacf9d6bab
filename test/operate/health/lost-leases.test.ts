import { describe, expect, test } from "vitest";
import { sweep } from "../../../src/index.ts";
import { newTaskId } from "../../../src/kernel/names/ids.ts";
import { useRig } from "../../support/rig.ts";
import { looking } from "./looking.ts";

// Who loses leases: workers that were failed, and tasks whose leases expire.

const rig = useRig();
const MINUTE = 60_000;
const now = () => rig.now;
const { findings } = looking(rig);

describe("a failed worker", () => {
  const RESTART =
    "restart its process, if it still runs: one that hangs does not come back (sluice workers emails). This ends once a worker of its name takes a task, or in 58m 30s";
  const worker = { name: "w", node: "eu-1", pid: 7 } as const;

  test("is missed until it dequeues again", async () => {
    await rig.queue().enqueue(1);
    await rig.queue().dequeue({ worker });
    await rig.operator().failWorker("w");
    rig.now += 90_000;
    const text = "worker w (process 7 on eu-1) was failed 1m 30s ago, and has taken nothing since";
    expect(await findings()).toEqual([["worker_lost", "warning", text, RESTART]]);
    const [task] = await rig.queue().dequeue({ worker: { name: "other" } });
    await task!.complete();
    expect(await findings()).toEqual([["worker_lost", "warning", text, RESTART]]);
    await rig.queue().dequeue({ worker });
    expect(await findings()).toEqual([]);
  });

  test("is not missed once its process was restarted, or after an hour", async () => {
    await rig.queue().enqueueMany([{ payload: 1 }, { payload: 2 }]);
    await rig.queue().dequeue({ worker: { ...worker, incarnation: "a", silentAfter: "1m" } });
    await rig.queue().dequeue({ worker: { name: "x" } });
    await rig.operator().failWorker("x");
    rig.now += MINUTE;
    await sweep(rig.transport, { now });
    const text = "worker w a was failed just now, and has taken nothing since";
    expect((await findings()).map(([, , found]) => found)).toEqual([
      `${text}; nor have 1 other failed worker`,
    ]);
    rig.now += 1_000;
    await rig.queue().dequeue({ worker: { ...worker, incarnation: "b" } });
    expect((await findings()).map(([, , found]) => found)).toEqual([
      "worker x was failed 1m 1s ago, and has taken nothing since",
    ]);
    rig.now += 59 * MINUTE;
    expect((await findings({ after: "59m" })).map(([code]) => code)).toEqual(["not_swept"]);
  });

  test("is not missed once it has come back, and has ended since", async () => {
    await rig.queue().enqueue(1);
    const silent = { ...worker, silentAfter: "1m" } as const;
    await rig.queue().dequeue({ worker: silent });
    rig.now += MINUTE;
    await sweep(rig.transport, { now });
    expect((await findings()).map(([code]) => code)).toEqual(["worker_lost"]);
    rig.now += 1_000;
    const [task] = await rig.queue().dequeue({ worker: silent });
    await task!.complete();
    rig.now += 2 * MINUTE;
    await sweep(rig.transport, { now });
    expect(await findings()).toEqual([]);
    expect((await rig.operator().workers()).workers).toEqual([]);
  });

  test("that a server named after its process is not missed once another process began on its machine", async () => {
    const own = (pid: number, startedAt: number, node = "web") => ({
      name: `${node}:${pid}`,
      incarnation: newTaskId(startedAt),
      node,
      pid,
    });
    await rig.queue().enqueueMany([{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    await rig.queue().dequeue({ worker: own(10, rig.now) });
    rig.now += MINUTE;
    await rig.operator().failWorker("web:10");
    rig.now += MINUTE;
    const lost = ["worker web:10 (process 10 on web) was failed 1m ago, and has taken nothing since"];
    const found = async () => (await findings()).map(([, , text]) => text);
    await rig.queue().dequeue({ worker: { ...own(11, 0), incarnation: "00000000" } });
    await rig.queue().dequeue({ worker: own(12, rig.now, "db") });
    expect(await found()).toEqual(lost);
    await rig.queue().dequeue({ worker: own(13, rig.now) });
    expect(await found()).toEqual([]);
  });

  test("is found in a queue with partitions, where it may come back in another one", async () => {
    const queue = rig.queue<number>({ partitions: 3 });
    const operator = rig.operator({ partitions: 3 });
    await queue.enqueueMany(Array.from({ length: 20 }, (_, i) => ({ payload: i })));
    for (let i = 0; i < 2; i++) await queue.dequeue({ max: 20, worker });
    await operator.failWorker("w");
    expect((await findings()).map(([code]) => code)).toEqual(["worker_lost"]);
    expect((await operator.workers()).workers).toMatchObject([{ ...worker, failedAt: rig.now, working: 0 }]);
    rig.now += 1;
    await queue.dequeue({ max: 1, worker });
    expect(await findings()).toEqual([]);
    const { workers } = await operator.workers();
    expect(workers).toMatchObject([{ ...worker, seenAt: rig.now, working: 1 }]);
    expect(workers[0]).not.toHaveProperty("failedAt");
  });
});

describe("leases that expire", () => {
  const expire = async () => {
    await rig.queue().dequeue({ lease: "1m" });
    rig.now += MINUTE;
    await sweep(rig.transport, { now });
  };

  test("again and again are found by the task, without statistics", async () => {
    await rig.queue().enqueue(1, { id: "poison" });
    await expire();
    await rig.queue().dequeue({ lease: "1m" });
    expect(await findings()).toEqual([]);
    rig.now += MINUTE;
    const [task] = await rig.queue().dequeue({ lease: "1m" });
    const advice =
      "each process that took it died or hung, or its handler outlived the lease: sluice show emails poison. To be rid of the task, keep its payload first (sluice export emails --state working), then: sluice cancel emails poison";
    const text = "task poison lost 2 leases one after the other";
    expect(await findings()).toEqual([["leases_expire", "warning", text, advice]]);
    const byText = async (state: "working" | "completed") =>
      (await rig.operator().list({ state, text: "lease expired" })).tasks.map(({ id }) => id);
    expect(await byText("working")).toEqual(["poison"]);
    await task!.complete();
    expect(await findings()).toEqual([]);
    expect(await byText("completed")).toEqual([]);
  });

  test("of several tasks name each", async () => {
    await rig.queue().enqueueMany(["a", "b", "c"].map((id) => ({ id, payload: 1 })));
    const take = async () => {
      // A task whose lease expired travels alone.
      for (let i = 0; i < 3; i++) await rig.queue().dequeue({ lease: "1m" });
    };
    for (let i = 0; i < 2; i++) {
      await take();
      rig.now += MINUTE;
      await sweep(rig.transport, { now });
    }
    await take();
    expect((await findings()).map(([, , text]) => text)).toEqual([
      "task a lost 2 leases one after the other, and 2 other tasks several: b, c",
    ]);
  });

  test("in several minutes are found by the statistics, also if no task is working", async () => {
    await rig.operator().configure({ statistics: true });
    await rig.queue().enqueue(1, { id: "a" });
    await expire();
    expect(await findings()).toEqual([]);
    await expire();
    const advice =
      'a process died or hung, or a handler outlived the lease: tasks not completed since: sluice ls emails --text "lease expired". This ends 3m after the last';
    const text = "2 leases expired within 10m";
    expect(await findings()).toEqual([["leases_expire", "warning", text, advice]]);
    for (let i = 0; i < 8; i++) await expire();
    expect((await findings({ after: "30m" })).map(([code, status]) => [code, status])).toEqual([
      ["leases_expire", "problem"],
      ["dead_letters_rising", "warning"],
    ]);
    rig.now += 3 * MINUTE;
    expect((await findings())[0]).toEqual([
      "leases_expire",
      "warning",
      "8 leases expired within 10m, the last over 2m ago: the cause may be gone",
      advice,
    ]);
  });

  test("are not those of tasks that an operator took back, which still come again alone (law 11)", async () => {
    await rig.operator().configure({ statistics: true });
    await rig.queue().enqueue(1, { id: "a" });
    const takeBack = async () => {
      await rig.queue().dequeue({ lease: "1m", worker: { name: "w" } });
      await rig.operator().failWorker("w");
      rig.now += MINUTE;
    };
    const found = async () => (await findings()).filter(([code]) => code === "leases_expire");
    for (let i = 0; i < 3; i++) await takeBack();
    expect(await found()).toEqual([]);
    // A requeue without an error begins anew.
    const [task] = await rig.queue().dequeue();
    await task!.requeue();
    await takeBack();
    await expire();
    await rig.queue().enqueueMany(Array.from({ length: 100 }, (_, i) => ({ payload: i })));
    expect(await rig.queue().dequeue({ max: 100, lease: "1m" })).toHaveLength(1);
    expect(await found()).toEqual([]);
    rig.now += MINUTE;
    await sweep(rig.transport, { now });
    await rig.queue().dequeue({ lease: "10m" });
    const text = "task a lost 2 leases one after the other; 2 leases expired within 10m";
    expect((await found()).map(([, , one]) => one)).toEqual([text]);
    const { totals } = await rig.operator().statistics();
    expect(totals).toMatchObject({ reclaimed: 6, takenBack: 4 });
  });
});
