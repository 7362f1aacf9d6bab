import { tagged } from "../../support/key-space.ts";
import { describe, expect, test } from "vitest";
import { Operator, Queue } from "../../../src/index.ts";
import { resp } from "../../../src/transport/resp.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const partitions = 4;
const queue = () => rig.queue<number>({ partitions });
const operator = () => rig.operator({ partitions });

/** The queue's keys and the fields of each hash among them. */
async function keysAndFields(): Promise<[string, string[]][]> {
  const kept = Object.entries(await rig.keySpace()).filter(([key]) => key.includes("{emails"));
  return kept.map(([key, value]) => [key, "hash" in value ? Object.keys(value.hash) : []]);
}

/** Adds tasks with ids, which are in all partitions. @returns their ids */
async function enqueue(count: number): Promise<string[]> {
  const tasks = Array.from({ length: count }, (_, i) => ({ payload: i, id: `t${i}` }));
  return (await queue().enqueueMany(tasks)).map(({ id }) => id);
}

async function work(outcome: "complete" | "reject" | undefined): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const tasks = await queue().dequeue({ max: 100 });
    if (tasks.length === 0) return ids;
    ids.push(...tasks.map(({ id }) => id));
    if (outcome) await queue().settle(tasks.map(({ receipt }) => ({ receipt, outcome })));
  }
}

describe("an operator of a queue with partitions", () => {
  test("lists all tasks once, page by page, and peeks at the oldest", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 60; i++) {
      rig.now += 10;
      ids.push((await queue().enqueue(i, { id: `t${i}` })).id);
    }
    expect((await operator().peek({ max: 20 })).map(({ id }) => id)).toEqual(ids.slice(0, 20));
    const listed: string[] = [];
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await operator().list({ state: "pending", size: 25, cursor });
      listed.push(...page.tasks.map(({ id }) => id));
      sizes.push(page.tasks.length);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(listed.toSorted()).toEqual(ids.toSorted());
    expect(sizes.filter((size) => size > 0)).toEqual([25, 25, 10]);
    await expect(operator().list({ state: "pending", cursor: "3:x" })).rejects.toMatchObject({
      path: "cursor",
    });
    await expect(operator().list({ state: "pending", cursor: "62:" })).rejects.toMatchObject({
      path: "cursor",
    });
  });

  test("an operator that knows only the name sees all partitions", async () => {
    const ids = await enqueue(40);
    const byName = rig.operator({ partitions: "stored" });
    const { tasks, cursor } = await byName.list({ state: "pending" });
    expect([tasks.map(({ id }) => id).toSorted(), cursor]).toEqual([ids.toSorted(), null]);
    expect((await rig.queue({ partitions: "stored" }).counts()).pending).toBe(40);
  });

  test("removes ended tasks where they are", async () => {
    const ids = await enqueue(12);
    await work("complete");
    for (const id of ids) expect(await operator().remove(id)).toEqual({ ok: true });
    expect(await operator().remove("t99")).toEqual({ ok: false, code: "not_found" });
    expect((await operator().list({ state: "completed" })).tasks).toEqual([]);
  });

  test("redrives by id and by filter, and notes the partitions before", async () => {
    const ids = await enqueue(40);
    await work("reject");
    await rig.command("DEL", "sluice:queues");
    rig.now += 120_000;
    const later = rig.operator({ partitions, transport: { send: rig.transport.send } });
    const some = ids.slice(0, 10);
    expect(await later.redrive({ ids: [...some, "t99"] })).toEqual({
      redriven: 10,
      refused: [{ id: "t99", code: "not_found" }],
      cursor: null,
      unreadable: 0,
    });
    expect(await later.redrive({ reason: "rejected", dryRun: true })).toMatchObject({
      redriven: 30,
      cursor: null,
    });
    let cursor: string | undefined;
    const counts: number[] = [];
    do {
      const report = await later.redrive({ reason: "rejected", limit: 8, cursor });
      counts.push(report.redriven);
      cursor = report.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(counts.reduce((sum, count) => sum + count)).toBe(30);
    expect((await work("complete")).toSorted()).toEqual(ids.toSorted());
  });

  test("a rate spreads redriven tasks over time, over all partitions", async () => {
    await enqueue(40);
    await work("reject");
    expect(await operator().redrive({ reason: "rejected", rate: 1 })).toMatchObject({ redriven: 40 });
    const { tasks } = await operator().list({ state: "delayed" });
    const pending = (await operator().list({ state: "pending" })).tasks.length;
    const due = tasks
      .map((task) => (task.state === "delayed" ? task.dueAt : 0) - rig.now)
      .toSorted((a, b) => a - b);
    expect(pending).toBe(1);
    expect(due).toEqual(Array.from({ length: 39 }, (_, i) => 1_000 * (i + 1)));
  });

  test("purges page by page", async () => {
    await enqueue(40);
    const first = await operator().purge({ state: "pending", limit: 15 });
    expect(first.purged).toBe(15);
    const rest = await operator().purge({ state: "pending", cursor: first.cursor ?? undefined });
    expect(rest).toEqual({ purged: 25, cursor: null, unreadable: 0 });
    expect((await queue().counts()).pending).toBe(0);
  });

  test("pauses and resumes all partitions", async () => {
    await enqueue(20);
    expect(await operator().pause()).toMatchObject({ paused: true });
    expect(await work("complete")).toEqual([]);
    expect((await queue().counts()).paused).toBe(true);
    expect(await operator().resume()).toMatchObject({ paused: false });
    expect(await work("complete")).toHaveLength(20);
  });

  test("settings of a group hold in the partition that has it; groups are listed with their counts", async () => {
    for (let i = 0; i < 30; i++) await queue().enqueue(i, { group: `g${i % 10}` });
    expect(await operator().configureGroup("g3", { maxWorking: 1, weight: 5 })).toEqual({
      weight: 5,
      maxWorking: 1,
      rate: null,
    });
    expect(await operator().groupSettings("g3")).toEqual({
      queue: "emails",
      group: "g3",
      weight: 5,
      maxWorking: 1,
      rate: null,
      ready: 3,
      working: 0,
      limited: 0,
    });
    const tasks = [];
    for (let i = 0; i < 5; i++) tasks.push(...(await queue().dequeue({ max: 30 })));
    expect(tasks.filter(({ group }) => group === "g3")).toHaveLength(1);
    expect(await operator().groupSettings("g3")).toMatchObject({ working: 1, limited: 2, ready: 0 });
    expect(await operator().groups()).toEqual({
      groups: [
        {
          queue: "emails",
          group: "g3",
          weight: 5,
          maxWorking: 1,
          rate: null,
          ready: 0,
          working: 1,
          limited: 2,
        },
      ],
      cursor: null,
    });
    await operator().configureGroup("g3", { maxWorking: null });
    expect(await operator().groupSettings("g3")).toMatchObject({ maxWorking: null, ready: 2, limited: 0 });
    let cursor: string | undefined;
    for (let i = 0; i < 20; i++) await queue().enqueue(i, { group: `h${i}` });
    const names: string[] = [];
    do {
      const page = await operator().groups({ size: 6, cursor });
      names.push(...page.groups.map(({ group }) => group));
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    expect(names.toSorted()).toEqual(["g3", ...Array.from({ length: 20 }, (_, i) => `h${i}`)].toSorted());
  });

  test("statistics are sums", async () => {
    await operator().configure({ statistics: true });
    await enqueue(40);
    rig.now += 60_000;
    await work("complete");
    const { minutes, totals, on, queue: name } = await operator().statistics();
    expect([name, on, minutes.length]).toEqual(["emails", true, 60]);
    expect(
      minutes.slice(-2).map(({ enqueued, dequeued, completed }) => [enqueued, dequeued, completed]),
    ).toEqual([
      [40, 0, 0],
      [0, 40, 40],
    ]);
    expect(totals).toMatchObject({ enqueued: 40, completed: 40, attempts: 40 });
    expect(totals.waits).toMatchObject({ count: 40, total: 40 * 60_000 });
    expect(totals.waits.classes).toHaveLength(13);
  });

  test("a worker is listed once, with its tasks in all partitions, and fails as a whole", async () => {
    const ids = await enqueue(40);
    const worker = { name: "w1", incarnation: "a", silentAfter: "1m" } as const;
    const taken = [];
    for (;;) {
      const tasks = await queue().dequeue({ max: 8, worker });
      if (tasks.length === 0) break;
      taken.push(...tasks);
    }
    for (const name of ["w0", "w2"]) await queue().heartbeat({ name });
    const page = await operator().workers({ size: 2 });
    expect(page.workers.map(({ name, working, tasks }) => [name, working, tasks.length])).toEqual([
      ["w0", 0, 0],
      ["w1", 40, 40],
    ]);
    expect([...(page.workers[1]?.tasks ?? [])].toSorted()).toEqual(ids.toSorted());
    const next = await operator().workers({ size: 2, cursor: page.cursor ?? undefined });
    expect([next.workers.map(({ name }) => name), next.cursor]).toEqual([["w2"], null]);
    const receipts = taken.slice(0, 20).map(({ receipt }) => receipt);
    rig.now += 30_000;
    expect(await queue().heartbeat(worker)).toEqual({
      ok: true,
      leases: 40,
      deadlineAt: rig.now + 300_000,
      cancelRequested: [],
    });
    expect(await queue().heartbeat(worker, { receipts })).toMatchObject({ leases: 20, lost: [] });
    expect(await operator().failWorker("w1")).toEqual({ returned: 40, rejected: 0, more: false });
    expect(await queue().heartbeat(worker)).toEqual({ ok: false, code: "worker_lost" });
    expect((await queue().counts()).pending).toBe(40);
    expect(await work("complete")).toHaveLength(40);
  });

  test("events of all partitions come on one channel, and a deleted queue says so once", async () => {
    await operator().configure({ events: true });
    const seen: string[] = [];
    const transport = resp(rig.redis.url);
    const events = await rig.queue({ transport }).events();
    const reading = (async () => {
      for await (const { event, ids } of events) {
        seen.push(...ids.map((id) => `${event} ${id}`));
        if (event === "deleted") break;
      }
    })();
    const ids = await enqueue(12);
    expect(await operator().deleteQueue()).toEqual({ ok: true });
    await reading;
    await transport.close();
    expect(seen.toSorted()).toEqual(["deleted *", ...ids.map((id) => `enqueued ${id}`)].toSorted());
  });

  test("deletes all partitions, or none if a task is working, and keeps the partitions", async () => {
    await enqueue(40);
    const [task] = await queue().dequeue();
    expect(await operator().deleteQueue()).toEqual({ ok: false, code: "still_working", working: 1 });
    expect(await queue().counts()).toMatchObject({ pending: 39, working: 1 });
    const options = { force: true, idempotencyKey: "once" };
    expect(await operator().deleteQueue(options)).toEqual({ ok: true });
    expect(await task?.complete()).toMatchObject({ ok: false, code: "lease_lost" });
    const names = ["emails/1", "emails/2", "emails/3", "emails/0"];
    const kept = names.map((name) => [`sluice:${tagged(name)}:tasks`, ["~slots"]]);
    expect(
      (await keysAndFields()).filter(([key]) => !/^sluice:\{emails\}:|:operator-calls$/.test(key)),
    ).toEqual(kept);
    expect(await rig.command("ZRANGE", "sluice:queues", "0", "-1")).toEqual(["/emails"]);
    rig.now += 1_000;
    await enqueue(40);
    await queue().dequeue();
    // A copy of the call does nothing.
    expect(await operator().deleteQueue(options)).toEqual({ ok: true });
    expect(await queue().counts()).toMatchObject({ pending: 39, working: 1 });
  });

  test("lists the partitions with the tasks in each, also while their number changes", async () => {
    await enqueue(40);
    await work("reject");
    await queue().enqueue(1, { delay: "1h", id: "later" });
    await queue().enqueueMany(Array.from({ length: 20 }, (_, payload) => ({ payload })));
    const listed = await operator().listPartitions();
    expect(listed).toMatchObject({ queue: "emails", count: 4, changing: false });
    expect(listed.partitions.map(({ partition, slots }) => [partition, slots])).toEqual(
      [0, 1, 2, 3].map((partition) => [partition, 64]),
    );
    const sum = (name: "pending" | "delayed" | "working" | "rejected") =>
      listed.partitions.reduce((total, one) => total + one[name], 0);
    const { pending, delayed, working, rejected } = await queue().counts();
    expect([sum("pending"), sum("delayed"), sum("working"), sum("rejected")]).toEqual([
      pending,
      delayed,
      working,
      rejected,
    ]);
    expect(rejected).toBe(40);
    await operator().resize(2);
    expect((await operator().listPartitions()).partitions.map(({ slots }) => slots)).toEqual([
      128, 128, 0, 0,
    ]);
    // Another queue, in use, which has none.
    const { transport } = rig;
    const other = new Operator("other", { transport, now: () => rig.now });
    await new Queue("other", { transport, now: () => rig.now }).enqueue(1);
    const alone = { partition: 0, slots: 256, pending: 1, delayed: 0, working: 0, rejected: 0 };
    expect(await other.listPartitions()).toEqual({
      queue: "other",
      count: 1,
      changing: false,
      partitions: [alone],
    });
    await other.resize(3);
    const changed = await other.listPartitions();
    expect(changed).toMatchObject({ count: 3, changing: false });
    expect(changed.partitions[0]).toEqual({ ...alone, slots: 86 });
  });
});
