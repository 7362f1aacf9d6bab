import { describe, expect, test } from "vitest";
import { sweep, type LeasedTask } from "../../../src/index.ts";
import { many } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";
import { looking } from "./looking.ts";

// What a handler calls hangs or is down, so that each attempt fails and the next one begins.

const rig = useRig();
const MINUTE = 60_000;
const { health, findings } = looking(rig);

const hung = () =>
  Object.assign(new TypeError("fetch failed", { cause: new Error("Headers Timeout Error") }), { stack: "" });

/** Whether attempts that fail are found, and how bad that is. */
const failing = async () =>
  (await findings()).filter(([code]) => code === "attempts_fail").map(([, status]) => status);

let working: LeasedTask[] = [];

/** Five attempts begin; after five minutes the last ones have failed. */
async function round(error: () => Error = hung, options: object = {}) {
  await Promise.all(working.map((task) => task.requeue({ error: error(), delay: "30s" })));
  rig.now += 1;
  working = await rig.queue(options).dequeue({ max: 5, lease: "10m" });
}

/** 35 mails, 5 working, and a receiver that never answers. */
async function outage(options: object = {}) {
  working = [];
  await rig.queue(options).enqueueMany(many(35));
  await round(hung, options);
  for (let i = 0; i < 2; i++) {
    rig.now += 5 * MINUTE;
    await sweep(rig.transport, { now: () => rig.now });
    await round(hung, options);
  }
  rig.now += MINUTE;
}

describe("a receiver that hangs", () => {
  test.each([false, true])(
    "is found by the errors of the attempts, with statistics: %s",
    async (statistics) => {
      await rig.operator().configure({ statistics });
      await outage();
      const [one, ...others] = await findings();
      expect(others).toEqual([]);
      const none = statistics ? "none was completed" : "none is known to be completed";
      expect(one).toEqual([
        "attempts_fail",
        "problem",
        expect.stringMatching(
          new RegExp(
            `^of 15 tasks looked at, 10 failed their last attempt, the first 6m ago, the last 1m ago, and ${none} within 10m$`,
          ),
        ),
        expect.stringMatching(
          /^the last one with TypeError: fetch failed: Headers Timeout Error: is what .* --text 'fetch failed'; sluice show emails \S+; until it is: sluice pause emails$/,
        ),
      ]);
      expect(await health()).toMatchObject({ status: "problem" });
      // It is over once a task is completed.
      await working[0]!.complete();
      expect(await findings()).toEqual([]);
    },
  );

  test("is found in a queue with partitions", async () => {
    await outage({ partitions: 3 });
    expect(await failing()).toEqual(["problem"]);
  });
});

test("the first failure is the one after the last completion, also when that was long ago", async () => {
  await rig.queue().enqueueMany(many(3));
  const [first, ...others] = await rig.queue().dequeue({ max: 3 });
  await Promise.all(others.map((task) => task.requeue({ error: hung(), delay: "1s" })));
  rig.now += MINUTE;
  await first!.complete();
  rig.now += 30 * MINUTE;
  await sweep(rig.transport, { now: () => rig.now });
  for (const task of await rig.queue().dequeue({ max: 2 }))
    await task.requeue({ error: hung(), delay: "1s" });
  rig.now += MINUTE;
  await sweep(rig.transport, { now: () => rig.now });
  await rig.queue().dequeue({ max: 2, lease: "10m" });
  rig.now += MINUTE;
  const [[code, , text] = []] = await findings();
  expect([code, text]).toEqual([
    "attempts_fail",
    expect.stringContaining("the first 2m ago, the last 2m ago"),
  ]);
});

describe("failed attempts are no finding", () => {
  test("of one task beside others that are completed, or alone", async () => {
    await rig.queue().enqueue(1, { id: "bad" });
    for (let i = 0; i < 5; i++) {
      const [bad] = await rig.queue().dequeue();
      await bad!.requeue({ error: hung() });
      rig.now += MINUTE;
      await sweep(rig.transport, { now: () => rig.now });
    }
    expect(await failing()).toEqual([]);
  });

  test("of a few tasks beside a backlog that is worked off", async () => {
    await rig.queue().enqueueMany(many(60));
    for (let i = 0; i < 15; i++) {
      const [bad, good] = await rig.queue().dequeue({ max: 2 });
      await bad!.requeue({ error: hung(), delay: "20m" });
      await good!.complete();
      rig.now += MINUTE;
    }
    expect(await failing()).toEqual([]);
  });

  test("with tasks that keep their results for another time", async () => {
    await rig.queue().enqueueMany(many(6, { resultTtl: "2d" }));
    const tasks = await rig.queue().dequeue({ max: 6 });
    await Promise.all(tasks.slice(0, 5).map((task) => task.requeue({ error: hung(), delay: "1h" })));
    rig.now += 5 * MINUTE;
    expect(await failing()).toEqual(["warning"]);
    await tasks[5]!.complete();
    expect(await failing()).toEqual([]);
    rig.now += 30 * MINUTE;
    expect(await failing()).toEqual([]);
  });

  test("of tasks that were rejected, or whose leases expired", async () => {
    await rig.queue().enqueueMany(many(5));
    for (const task of await rig.queue().dequeue({ max: 5 })) await task.reject(hung());
    await rig.queue().enqueueMany(many(5));
    await rig.queue().dequeue({ max: 5, lease: "1m" });
    rig.now += MINUTE;
    await sweep(rig.transport, { now: () => rig.now });
    rig.now += MINUTE;
    expect(await failing()).toEqual([]);
  });
});

test("a queue that has recovered is found no more", async () => {
  await outage();
  for (let done = 0; done < 35;) {
    for (const task of working) await task.complete();
    done += working.length;
    expect(await failing()).toEqual([]);
    rig.now += 2 * MINUTE;
    await sweep(rig.transport, { now: () => rig.now });
    working = await rig.queue().dequeue({ max: 5 });
  }
  expect(await failing()).toEqual([]);
});
