import { describe, expect, test } from "vitest";
import { SluiceError, sweep, type SweepOptions } from "../../../src/index.ts";
import { placesOf } from "../../../src/open/sweep-with.ts";
import { readArea } from "../../../src/features/offload/areas.ts";
import { newToken } from "../../../src/kernel/names/ids.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { QUEUE, START, key, useRig } from "../../support/rig.ts";
import { large, offloading, type TestStore, withStore } from "./rig.ts";

const rig = useRig();
const HOUR = 3_600_000;

const setUp = () => {
  const { offload, ...others } = withStore(rig);
  const pass = async (options: Partial<SweepOptions> = {}) =>
    (await sweep(rig.transport, { offload, now: () => rig.now, ...options })).objects;
  return { offload, ...others, pass };
};

/** Writes an object of a task, as an enqueue that then crashes. */
const crashedEnqueue = async (store: TestStore, id: string) =>
  writeObject(store, `${QUEUE}/${id}/${newToken()}`);

/** Writes an object in the area of the database. */
async function writeObject(store: TestStore, rest: string, prefix = "sluice") {
  const area = await readArea({ transport: rig.transport, prefix });
  await store.put(`${prefix}/${area}/${rest}`, new Uint8Array(1), { sha256: new Uint8Array(32) });
}

describe("a sweep with offload removes objects that no task needs", () => {
  test("an hour after they were written: those of crashed enqueues, also of an id that is in use", async () => {
    const { store, pass, queue } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    const kept = await store.keys();
    await crashedEnqueue(store, "a");
    await crashedEnqueue(store, "b");
    rig.now = START + HOUR;
    expect(await pass()).toEqual({ checked: 3, removed: 0 });
    expect(await store.keys()).toHaveLength(3);
    rig.now += HOUR;
    expect(await pass()).toEqual({ checked: 3, removed: 2 });
    expect(await store.keys()).toEqual(kept);
    const [task] = await queue.dequeue();
    expect(task?.payload).toEqual(large("a"));
  });

  test("of tasks in every state it keeps what they still need, and removes the rest", async () => {
    const { store, pass, queue, operator } = setUp();
    const outcomes = {
      dead: "reject",
      expired: "reject",
      removed: "reject",
      completed: "complete",
      again: "complete",
    } as const;
    const enqueue = (id: string, options = {}) => queue.enqueue(large(id), { id, ...options });
    for (const id of Object.keys(outcomes)) await enqueue(id, id === "expired" ? { deadTtl: "1m" } : {});
    await enqueue("working");
    const tasks = await queue.dequeue({ max: 10, lease: "1d" });
    for (const id of ["pending", "cancelled"]) await enqueue(id);
    await enqueue("delayed", { delay: "1d" });
    // Settled elsewhere, so that nothing is removed at once.
    const elsewhere = rig.queue({ offload: offloading(store) });
    const settlements = Object.values(outcomes).map((outcome, i) => ({
      receipt: tasks[i]!.receipt,
      outcome,
    }));
    await elsewhere.settle(settlements);
    await queue.cancel("cancelled");
    await operator.remove("removed");
    await queue.enqueue(large("the next life"), { id: "again", again: true });
    expect(await store.keys()).toHaveLength(10);
    rig.now = START + HOUR + 1;
    expect(await pass()).toEqual({ checked: 10, removed: 5 });
    const left = (await store.keys()).map((at) => at.split("/")[3]);
    expect(left).toEqual(["again", "dead", "delayed", "pending", "working"]);
    expect(await queue.get("again", { payload: true })).toMatchObject({ payload: large("the next life") });
    await operator.deleteQueue({ force: true });
    rig.now += HOUR;
    expect(await pass()).toEqual({ checked: 5, removed: 5 });
  });

  test("and a dead letter keeps its object through redrive, requeue and another death", async () => {
    const { pass, queue, operator } = setUp();
    await queue.enqueue(large("a"), { id: "a", deadTtl: "30d" });
    for (let i = 0; i < 3; i++) {
      await (await queue.dequeue())[0]?.reject("no");
      rig.now += 2 * HOUR;
      expect(await pass()).toEqual({ checked: 1, removed: 0 });
      await operator.redrive({ reason: "rejected" });
      rig.now += 2 * HOUR;
      expect(await pass()).toEqual({ checked: 1, removed: 0 });
    }
    expect((await queue.dequeue())[0]?.payload).toEqual(large("a"));
  });

  test("a page in each pass; the store remembers where the next one goes on, for another process too (law 7)", async () => {
    const { store, pass, queue } = setUp();
    await queue.enqueue(large("live"), { id: "live" });
    for (let i = 0; i < 2_100; i++) await crashedEnqueue(store, `t${i}`);
    rig.now = START + 2 * HOUR;
    const passes = [await pass()];
    expect(await store.keys()).toHaveLength(1_000);
    passes.push(await pass({ offload: offloading(store) }), await pass(), await pass());
    expect(passes).toEqual([
      { checked: 1_000, removed: 999 },
      { checked: 1_000, removed: 1_000 },
      { checked: 101, removed: 101 },
      // At the end of the store it rests.
      { checked: 0, removed: 0 },
    ]);
    expect((await queue.dequeue())[0]?.payload).toEqual(large("live"));
    const lists = () => store.requests.filter((request) => request.startsWith("list")).length;
    expect(lists()).toBe(3);
    rig.now += 599_999;
    await pass();
    expect(lists()).toBe(3);
    rig.now += 1;
    expect(await pass()).toEqual({ checked: 1, removed: 0 });
  });

  test("of several queues and prefixes; each prefix has its own", async () => {
    const { store, offload, pass } = setUp();
    const other = rig.queue({ offload, prefix: "other" });
    await other.enqueue(large("o"), { id: "a" });
    await rig.queue({ offload }).enqueue(large("a"), { id: "a/b:c" });
    await writeObject(store, "reports/x/N");
    rig.now = START + 2 * HOUR;
    expect(await pass()).toEqual({ checked: 2, removed: 1 });
    expect(await pass({ prefix: "other" })).toEqual({ checked: 1, removed: 0 });
    expect((await rig.queue({ offload }).dequeue())[0]?.payload).toEqual(large("a"));
    expect((await other.dequeue())[0]?.payload).toEqual(large("o"));
  });
});

describe("a sweep never removes an object that a task may need", () => {
  test("of an enqueue that is under way, and whose request arrives late", async () => {
    const { store, pass, offload } = setUp();
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const late: Transport = {
      async send(commands, options) {
        if (commands.some((command) => "script" in command)) await held;
        return rig.transport.send(commands, options);
      },
    };
    const enqueued = rig.queue({ offload, transport: late }).enqueue(large("a"), { id: "a" });
    while ((await store.keys()).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    rig.now = START + HOUR;
    expect(await pass()).toEqual({ checked: 1, removed: 0 });
    release();
    await enqueued;
    rig.now += HOUR;
    expect(await pass()).toEqual({ checked: 1, removed: 0 });
    expect((await rig.queue({ offload }).dequeue())[0]?.payload).toEqual(large("a"));
  });

  test("of another database with the same store and prefix, or of one that has lost its data", async () => {
    const { store, pass, queue } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    await pass();
    const kept = await store.keys();
    const record = (await rig.space()).tasks.get("a") ?? "";
    const area = await rig.command("GET", "{sluice:queues}:objects");
    await rig.command("FLUSHALL");
    rig.now = START + 2 * HOUR;
    const other = rig.queue({
      offload: offloading(store),
      transport: { send: (...call) => rig.transport.send(...call) },
    });
    await other.enqueue(large("b"), { id: "b" });
    expect(await rig.command("GET", "{sluice:queues}:objects")).not.toBe(area);
    expect(await pass()).toEqual({ checked: 1, removed: 0 });
    await crashedEnqueue(store, "a");
    rig.now += 2 * HOUR;
    expect(await pass()).toEqual({ checked: 2, removed: 1 });
    // The data are restored. The reference says in which area its object is.
    await rig.command("HSET", key("tasks"), "a", record);
    expect(await store.keys()).toEqual(expect.arrayContaining(kept));
    expect(await queue.get("b", { payload: true })).toMatchObject({ payload: large("b") });
    await rig.command("HDEL", key("tasks"), "a");
  });

  test.each(["2;1700000000000\nz", "broken"])(
    "with a record of a newer release, or one that cannot be read: %j",
    async (record) => {
      const { pass, queue } = setUp();
      await queue.enqueue(large("a"), { id: "a" });
      const written = (await rig.space()).tasks.get("a") ?? "";
      await rig.command("HSET", key("tasks"), "a", record);
      rig.now = START + 2 * HOUR;
      expect(await pass()).toEqual({ checked: 1, removed: 0 });
      await rig.command("HSET", key("tasks"), "a", written);
    },
  );

  test("whose record could not be read, nor one whose key it does not know", async () => {
    const { store, pass, offload, queue } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    for (const foreign of ["emails~2f3/a/N", "emails/a", "emails/a/b/N", ".x/a/N"])
      await writeObject(store, foreign);
    const failing: Transport = {
      async send(commands, options) {
        const outcomes = await rig.transport.send(commands, options);
        return outcomes.map((outcome, i) =>
          String((commands[i] as readonly string[])[1]).endsWith(":tasks")
            ? { error: new SluiceError("redis_error", "LOADING") }
            : outcome,
        );
      },
    };
    rig.now = START + 2 * HOUR;
    const { objects } = await sweep(failing, { offload, now: () => rig.now });
    expect(objects).toEqual({ checked: 5, removed: 0 });
    expect(await store.keys()).toHaveLength(5);
    rig.now += HOUR;
    expect(await pass()).toEqual({ checked: 5, removed: 0 });
  });

  test("if the store fails: the report says so, the next pass does the same page again", async () => {
    const { store, pass, queue } = setUp();
    await crashedEnqueue(store, "a");
    await queue.enqueue("small", { id: "s", delay: 1 });
    rig.now = START + 2 * HOUR;
    store.before = (method) => {
      if (method === "delete") throw new Error("no");
    };
    const report = await sweep(rig.transport, { offload: offloading(store), now: () => rig.now });
    expect(report).toMatchObject({ promoted: 1, failed: [] });
    expect(report.objects?.error).toMatch(/^the object store did not delete objects in 4 tries/);
    store.before = () => {};
    expect(await pass()).toEqual({ checked: 1, removed: 1 });
  });

  test("when the sweep's budget is used up: nothing is removed, and nothing is skipped", async () => {
    const { store, offload, pass } = setUp();
    await crashedEnqueue(store, "a");
    rig.now = START + 2 * HOUR;
    const context = { transport: rig.transport, now: () => rig.now, placesOf };
    expect(await offload.removeOrphans({ ...context, until: 0 })).toEqual({ checked: 0, removed: 0 });
    expect(await pass()).toEqual({ checked: 1, removed: 1 });
  });
});

test("a sweep of one queue, and one without offload, does not ask the store, nor Redis for it", async () => {
  const { store, pass } = setUp();
  expect(await pass({ queue: QUEUE })).toBeUndefined();
  expect(await pass({ offload: undefined })).toBeUndefined();
  expect(store.requests).toEqual([]);
  expect(await rig.command("EXISTS", "{sluice:queues}:objects")).toBe(0);
});

test("Redis and the store remember a pass as lua/README.md specifies it", async () => {
  const { store, pass } = setUp();
  await crashedEnqueue(store, "a");
  await pass();
  const area = String(await rig.command("GET", "{sluice:queues}:objects"));
  expect(area).toMatch(/^[A-Za-z0-9]{16}$/);
  const position = await store.get(`sluice/${area}~position`, {});
  expect(new TextDecoder().decode(position ?? undefined)).toBe(`${START} `);
});
