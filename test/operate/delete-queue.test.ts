import { describe, expect, test } from "vitest";
import { listQueues } from "../../src/index.ts";
import { parts, queueKeys } from "../../src/kernel/names/keys.ts";
import { many } from "../support/new-tasks.ts";
import { key, QUEUE, useRig } from "../support/rig.ts";

const rig = useRig();
/** The only key of a deleted queue, for five minutes: it notes that the deleting call has run. */
const CALLS = key("operator-calls");

const registered = async () => (await listQueues(rig.transport)).queues.map(({ name }) => name);

/** Fills a queue so that every key exists, and returns its working tasks. */
async function fill() {
  const queue = rig.queue();
  await rig.operator().configure({ maxWorking: 100, statistics: true });
  await rig.operator().configureGroup("a", { maxWorking: 1 });
  await queue.enqueueMany([
    { payload: 1 },
    { payload: 2 },
    { payload: 3, delay: "1h" },
    { payload: 4, dedup: { key: "four", window: "1d" } },
    ...many(3, { group: "a" }),
    ...many(2, { group: "b" }),
  ]);
  const tasks = await queue.dequeue({ max: 4, worker: { name: "w", silentAfter: "1m" } });
  await tasks[0]?.complete("result");
  await tasks[1]?.reject("no");
  return tasks.slice(2);
}

describe("deleting a queue", () => {
  test("removes all its keys and its registration, and nothing of another queue", async () => {
    const other = rig.queue();
    await fill();
    const all = [...parts.map((part) => queueKeys(QUEUE)[part]), CALLS, "sluice:queues"];
    expect(Object.keys(await rig.keySpace())).toEqual(all.toSorted());
    await rig.command("SET", `sluice:{${QUEUE}-2}:tasks`, "another's");
    await rig.command("ZADD", "sluice:queues", "5", `${QUEUE}-2`);
    expect(await rig.operator().deleteQueue({ force: true })).toEqual({ ok: true });
    const left = ["sluice:queues", `sluice:{${QUEUE}-2}:tasks`, CALLS];
    expect(Object.keys(await rig.keySpace())).toEqual(left);
    expect(await registered()).toEqual([`${QUEUE}-2`]);
    expect(Number(await rig.command("PTTL", CALLS))).toBeGreaterThan(0);
    expect(await other.counts()).toMatchObject({ pending: 0, working: 0, rejected: 0 });
    expect(await rig.operator().settings()).toMatchObject({ maxWorking: null, statistics: false });
    // One that does not exist can be deleted too.
    expect(await rig.operator().deleteQueue()).toEqual({ ok: true });
    expect(Object.keys(await rig.keySpace())).toEqual(left);
  });
});

describe("a copy of a deletion (law 5)", () => {
  const call = () => rig.operator().deleteQueue({ idempotencyKey: "one" });

  test("that arrives after the queue is created again deletes nothing, and keeps it listed", async () => {
    const queue = rig.queue();
    await queue.enqueue(1);
    await call();
    rig.now += 1;
    await queue.enqueue(2);
    expect(await call()).toEqual({ ok: true });
    expect(await registered()).toEqual([QUEUE]);
    expect((await queue.dequeue()).map(({ payload }) => payload)).toEqual([2]);
  });

  test("of a refused deletion is refused again, also if no task is working any more", async () => {
    const queue = rig.queue();
    await queue.enqueue(1);
    const [task] = await queue.dequeue();
    const refused = { ok: false, code: "still_working", working: 1 };
    expect(await call()).toEqual(refused);
    await task?.requeue();
    expect(await call()).toEqual(refused);
    expect((await queue.counts()).pending).toBe(1);
  });
});
