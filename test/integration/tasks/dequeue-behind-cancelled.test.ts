import { beforeEach, describe, expect, test } from "vitest";
import type { Queue, Transport } from "../../../src/index.ts";
import { callOf } from "../../../src/queue/redis/binding.ts";
import { queueKeys } from "../../../src/queue/core/keys.ts";
import { dequeueScript } from "../../../src/queue/redis/task-scripts.ts";
import { many, named } from "../../support/new-tasks.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

/** Enqueues tasks `t0` to `t<count - 1>`, and cancels the first of them. */
async function enqueueAndCancel(count: number, cancelled: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, i) => `t${i}`);
  for (let first = 0; first < count; first += 1_000) {
    await queue.enqueueMany(ids.slice(first, first + 1_000).map((id) => ({ id, payload: id })));
  }
  await Promise.all(ids.slice(0, cancelled).map((id) => queue.cancel(id)));
}

describe("a dequeue that finds only cancelled tasks", () => {
  test.for([{ statistics: true }, { events: true }, {}])(
    "returns empty, drops them and reports when the next task is due, with the settings %o",
    async (settings) => {
      await rig.operator().configure(settings);
      await queue.enqueue("later", { delay: 5_000 });
      await enqueueAndCancel(3, 3);
      const none = await queue.dequeue({ max: 2 });
      expect([none.length, none.nextDueAt, none.paused]).toEqual([0, START + 5_000, false]);
      expect((await rig.space()).pending).toEqual([]);
      expect(await queue.counts()).toMatchObject({ pending: 0, oldestAge: null });
    },
  );

  test("promotes due tasks behind them (I6), and counts itself once in the statistics", async () => {
    await rig.operator().configure({ statistics: true, events: true });
    await queue.enqueue("later", { delay: 1_000, id: "later" });
    await enqueueAndCancel(2, 2);
    rig.now += 1_000;
    expect((await queue.dequeue()).map(({ id }) => id)).toEqual(["later"]);
    const { minutes } = await rig.operator().statistics();
    expect(minutes.at(-1)).toMatchObject({ enqueued: 3, cancelled: 2, dequeued: 1 });
  });

  test("returns a due task of a group behind them (I6)", async () => {
    await queue.enqueue("later", { delay: 1_000, group: "g" });
    await enqueueAndCancel(1, 1);
    rig.now += 1_000;
    expect((await queue.dequeue()).map(({ payload }) => payload)).toEqual(["later"]);
  });

  test("sets nextDueAt to now for a due task of a group behind one that it returns", async () => {
    await queue.enqueue("later", { delay: 1_000, group: "g" });
    await queue.enqueueMany(named(["t", "x", "y"]));
    await Promise.all(["x", "y"].map((id) => queue.cancel(id)));
    rig.now += 1_000;
    const batch = await queue.dequeue({ max: 2 });
    expect([batch.map(({ id }) => id), batch.nextDueAt]).toEqual([["t"], rig.now]);
    expect((await queue.dequeue()).map(({ payload }) => payload)).toEqual(["later"]);
  });

  test("also settles in the same request", async () => {
    await rig.operator().configure({ statistics: true });
    await queue.enqueue("first");
    const [first] = await queue.dequeue();
    await enqueueAndCancel(2, 2);
    const settlement = { receipt: first?.receipt ?? "", outcome: "complete" } as const;
    const { settled, tasks } = await queue.settleAndDequeue([settlement], { max: 2 });
    expect([settled[0]?.ok, tasks.length]).toEqual([true, 0]);
  });
});

describe("a dequeue continues behind entries that are not deliverable", () => {
  // test/model has the same without statistics.
  test("behind 2,000 cancelled tasks, with statistics", async () => {
    await rig.operator().configure({ statistics: true });
    await enqueueAndCancel(2_010, 2_000);
    const tasks = await queue.dequeue({ max: 3 });
    expect(tasks.map(({ id }) => id)).toEqual(["t2000", "t2001", "t2002"]);
    expect(await queue.counts()).toMatchObject({ pending: 7, working: 3 });
  });

  test("in calls of the script that each skip between 200 and 400 (law 7)", async () => {
    await enqueueAndCancel(700, 600);
    const args = { testNow: String(rig.now), maxTasks: "1", lease: "1000", token: "token-01", resend: "1" };
    const call = callOf(dequeueScript, queueKeys(QUEUE), { ...args, maxBytes: "1000", worker: "", info: "" });
    const left: number[] = [];
    for (const reply of [
      ["more", START],
      ["more", START],
      ["ok", START, "t600"],
    ]) {
      const [outcome] = await rig.transport.send([call]);
      expect(outcome && "reply" in outcome && (outcome.reply as unknown[]).slice(0, 3)).toEqual(reply);
      left.push((await rig.space()).pending.length);
    }
    const passed = [700 - (left[0] ?? 0), (left[0] ?? 0) - (left[1] ?? 0)];
    expect(passed.map((count) => count >= 200 && count < 400)).toEqual([true, true]);
    expect(left[2]).toBe(99);
  });

  test("for 50 calls at most, and its token stays unused", async () => {
    let calls = 0;
    const ghostly: Transport = {
      send: async (commands, options) => {
        if (++calls > 55) return rig.transport.send(commands, options);
        return [{ reply: ["more", rig.now] }];
      },
    };
    await queue.enqueue("there");
    const none = await rig.queue({ transport: ghostly }).dequeue({ token: "token-02" });
    expect([none.length, none.nextDueAt, calls]).toEqual([0, START, 50]);
    expect(await queue.dequeue({ token: "token-02" })).toHaveLength(1);
  });
});

test("a dequeue over the backlog of newly limited groups returns the tasks behind it", async () => {
  for (const group of ["a", "a", "b", "b"]) await queue.enqueueMany(many(1_000, { group }));
  for (const group of ["a", "b"]) await rig.operator().configureGroup(group, { maxWorking: 1 });
  expect((await queue.dequeue({ max: 2 })).map(({ group }) => group)).toEqual(["a", "b"]);
  await queue.enqueue("last", { group: "c" });
  await queue.enqueue("lowest", { group: "d" });
  expect((await queue.dequeue({ max: 2 })).map(({ payload }) => payload)).toEqual(["last", "lowest"]);
});
