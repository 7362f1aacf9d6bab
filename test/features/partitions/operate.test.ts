import { describe, expect, test } from "vitest";
import { type Command, Operator, Queue } from "../../../src/index.ts";
import { resp } from "../../../src/transports/resp.ts";
import { instances } from "../../support/instances.ts";
import { many, numbered } from "../../support/new-tasks.ts";
import { allPages } from "../../support/paging.ts";
import { recorded } from "../../support/recorded.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const { now, instance, drainAll } = instances(rig);
const partitions = 4;
const queue = () => rig.queue<number>({ partitions });
/** It does not know of the partitions before its first call. */
const operator = () => rig.operator();

/** Adds tasks with ids, which are in all partitions. @returns their ids */
const enqueue = async (count: number) => (await queue().enqueueMany(numbered(count))).map(({ id }) => id);

const nameOf = (command: Command) => ("script" in command ? command.script.name : command[0]);

/** Rejects all tasks. */
async function reject(): Promise<void> {
  for (let tasks = await queue().dequeue({ max: 100 }); tasks.length > 0;) {
    await queue().settle(tasks.map(({ receipt }) => ({ receipt, outcome: "reject" })));
    tasks = await queue().dequeue({ max: 100 });
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
    const pages = await allPages((cursor) => operator().list({ state: "pending", size: 25, cursor }));
    expect(pages.flatMap(({ tasks }) => tasks.map(({ id }) => id)).toSorted()).toEqual(ids.toSorted());
    expect(pages.map(({ tasks }) => tasks.length).filter((size) => size > 0)).toEqual([25, 25, 10]);
    for (const cursor of ["3:x", "62:"])
      await expect(operator().list({ state: "pending", cursor })).rejects.toMatchObject({ path: "cursor" });
  });

  test("removes ended tasks where they are", async () => {
    const ids = await enqueue(12);
    await drainAll(queue());
    for (const id of ids) expect(await operator().remove(id)).toEqual({ ok: true });
    expect(await operator().remove("t99")).toEqual({ ok: false, code: "not_found" });
    expect((await operator().list({ state: "completed" })).tasks).toEqual([]);
  });

  test("redrives by id and by filter, and notes the partitions before", async () => {
    const ids = await enqueue(40);
    await reject();
    await rig.command("DEL", "sluice:queues");
    rig.now += 120_000;
    const later = rig.operator({ transport: instance() });
    const some = ids.slice(0, 10);
    expect(await later.redrive({ ids: [...some, "t99"] })).toEqual({
      redriven: 10,
      refused: [{ id: "t99", code: "not_found" }],
      cursor: null,
      unreadable: 0,
    });
    const dry = await later.redrive({ reason: "rejected", dryRun: true });
    expect(dry).toMatchObject({ redriven: 30, cursor: null });
    const reports = await allPages((cursor) => later.redrive({ reason: "rejected", limit: 8, cursor }));
    expect(reports.reduce((sum, { redriven }) => sum + redriven, 0)).toBe(30);
    expect(await drainAll(queue())).toEqual(ids.toSorted());
  });

  test("a rate spreads redriven tasks over time, over all partitions", async () => {
    await enqueue(40);
    await reject();
    expect(await operator().redrive({ reason: "rejected", rate: 1 })).toMatchObject({ redriven: 40 });
    const { tasks } = await operator().list({ state: "delayed" });
    const due = tasks.map((task) => (task.state === "delayed" ? task.dueAt : 0) - rig.now);
    expect((await operator().list({ state: "pending" })).tasks).toHaveLength(1);
    expect(due.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 39 }, (_, i) => 1_000 * (i + 1)));
  });

  test("a change reads the map before and after, once each in a new instance too", async () => {
    await enqueue(8);
    const { transport, requests } = recorded(rig);
    await rig.operator({ transport, partitions }).pause();
    const sent = requests.map((commands) => commands.map(nameOf));
    const change = ["register", ...Array<string>(partitions).fill("configure")];
    expect(sent).toEqual([["HGET"], change, ["HGET"]]);
  });

  test("settings of a group hold in the partition that has it; groups are listed with their counts", async () => {
    for (let i = 0; i < 30; i++) await queue().enqueue(i, { group: `g${i % 10}` });
    const settings = {
      paused: false,
      pausedUntil: null,
      weight: 5,
      maxWorking: 1,
      rate: null,
      order: null,
      onDead: null,
    };
    expect(await operator().configureGroup("g3", { maxWorking: 1, weight: 5 })).toEqual(settings);
    const g3 = { queue: "emails", group: "g3", ...settings };
    const counts = { ready: 3, working: 0, limited: 0, inLine: 0, stoppedBy: null };
    expect(await operator().groupSettings("g3")).toEqual({ ...g3, ...counts });
    const tasks = [];
    for (let i = 0; i < 5; i++) tasks.push(...(await queue().dequeue({ max: 30 })));
    expect(tasks.filter(({ group }) => group === "g3")).toHaveLength(1);
    const busy = { ...g3, ready: 0, working: 1, limited: 2, inLine: 0, stoppedBy: null };
    expect(await operator().groupSettings("g3")).toEqual(busy);
    expect(await operator().groups()).toEqual({ groups: [busy], cursor: null });
    await operator().configureGroup("g3", { maxWorking: null });
    expect(await operator().groupSettings("g3")).toMatchObject({ maxWorking: null, ready: 2, limited: 0 });
    for (let i = 0; i < 20; i++) await queue().enqueue(i, { group: `h${i}` });
    const pages = await allPages((cursor) => operator().groups({ size: 6, cursor }));
    const names = pages.flatMap(({ groups }) => groups.map(({ group }) => group));
    expect(names.toSorted()).toEqual(["g3", ...Array.from({ length: 20 }, (_, i) => `h${i}`)].toSorted());
  });

  test("statistics are sums", async () => {
    await operator().configure({ statistics: true });
    await enqueue(40);
    rig.now += 60_000;
    await drainAll(queue());
    const { minutes, totals, on, queue: name } = await operator().statistics();
    expect([name, on, minutes.length]).toEqual(["emails", true, 60]);
    const last = minutes.slice(-2);
    expect(last.map(({ enqueued, dequeued, completed }) => [enqueued, dequeued, completed])).toEqual([
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
    for (let tasks = await queue().dequeue({ max: 8, worker }); tasks.length > 0;) {
      taken.push(...tasks);
      tasks = await queue().dequeue({ max: 8, worker });
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
    expect(await drainAll(queue())).toHaveLength(40);
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
    const left = (await rig.command("KEYS", "sluice:{emails*/*:*")) as string[];
    const hashes = left.filter((key) => !key.endsWith(":operator-calls"));
    const tags = ["{emails/1}", "{emails/2}", "{emails/3}", "{emails}/0"];
    expect(hashes.toSorted()).toEqual(tags.map((tag) => `sluice:${tag}:tasks`));
    for (const key of hashes) expect(await rig.command("HKEYS", key)).toEqual(["~slots"]);
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
    await reject();
    await queue().enqueue(1, { delay: "1h", id: "later" });
    await queue().enqueueMany(many(20));
    const listed = await operator().listPartitions();
    expect(listed).toMatchObject({ queue: "emails", count: 4, changing: false });
    const each = [0, 1, 2, 3].map((partition) => ({ partition, slots: 64 }));
    expect(listed.partitions).toMatchObject(each);
    const { pending, delayed, working, rejected } = await queue().counts();
    const sum = (name: "pending" | "delayed" | "working" | "rejected") =>
      listed.partitions.reduce((total, one) => total + one[name], 0);
    const sums = [sum("pending"), sum("delayed"), sum("working"), sum("rejected")];
    expect(sums).toEqual([pending, delayed, working, rejected]);
    expect(rejected).toBe(40);
    await operator().resize(2);
    const slots = [128, 128, 0, 0].map((count) => ({ slots: count }));
    expect((await operator().listPartitions()).partitions).toMatchObject(slots);
    // Another queue, in use, which has none.
    const over = { transport: rig.transport, now };
    const other = new Operator("other", over);
    await new Queue("other", over).enqueue(1);
    const alone = { partition: 0, slots: 256, pending: 1, delayed: 0, blocked: 0, working: 0, rejected: 0 };
    const one = { queue: "other", count: 1, changing: false, partitions: [alone] };
    expect(await other.listPartitions()).toEqual(one);
    await other.resize(3);
    const changed = await other.listPartitions();
    expect(changed).toMatchObject({ count: 3, changing: false });
    expect(changed.partitions[0]).toEqual({ ...alone, slots: 86 });
  });
});
