import { describe, expect, test } from "vitest";
import { type HealthOptions, sweep } from "../../../src/index.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { looking } from "./looking.ts";

// What is wrong at night.

const rig = useRig();
const MINUTE = 60_000;
const now = () => rig.now;

const { health, findings } = looking(rig);

interface Extended {
  extend(lease: number): Promise<unknown>;
}

/** Extends a lease again and again, as a consumer with a hanging handler does. */
async function hang(task: Extended, minutes: number) {
  for (let i = 0; i < minutes; i++) {
    rig.now += MINUTE;
    await task.extend(5 * MINUTE);
  }
}

const HANGS =
  "a handler hangs, perhaps because what it calls does not answer: sluice ls emails --state working. Restart its process, and give the consumer a timeout";

describe("a hanging handler whose lease is extended", () => {
  test("is found after ten minutes, and is a problem once other tasks wait", async () => {
    await rig.queue().enqueue(1);
    const [task] = await rig.queue().dequeue();
    await hang(task!, 10);
    expect(await findings()).toEqual([]);
    await hang(task!, 1);
    const text = "1 working, the longest for 11m, and nothing was taken for 11m";
    expect(await findings()).toEqual([["nothing_ends", "warning", text, HANGS]]);
    await rig.queue().enqueue(2);
    await hang(task!, 11);
    const later = "1 working, the longest for 22m, and nothing was taken for 22m";
    expect(await findings()).toEqual([["nothing_ends", "problem", later, HANGS]]);
    expect(await findings({ after: "30m" })).toEqual([]);
    expect(await health()).toMatchObject({
      status: "problem",
      now: rig.now,
      queues: [{ queue: QUEUE, status: "problem", pending: 1, working: 1 }],
      truncated: false,
    });
    await task!.complete();
    const [next] = await rig.queue().dequeue();
    expect(await findings()).toEqual([]);
    await next!.complete();
  });

  test("is not said of a task whose lease is longer than it has been working", async () => {
    await rig.queue().enqueue(1, { lease: "1h" });
    await rig.queue().dequeue();
    rig.now += 59 * MINUTE;
    expect(await findings()).toEqual([]);
  });

  test("beside one whose tasks end is not said to be all, and not known without statistics", async () => {
    await rig.queue().enqueue(1);
    const [task] = await rig.queue().dequeue();
    await hang(task!, 6);
    await rig.queue().enqueue(2);
    const [other] = await rig.queue().dequeue();
    await other!.complete();
    await hang(task!, 6);
    expect(await findings()).toEqual([]);
    await rig.queue().enqueue(3);
    await hang(task!, 11);
    const text = "1 working, the longest for 23m; whether others end is not known without statistics";
    const advice = "sluice settings emails statistics=on";
    expect(await findings()).toEqual([["nothing_ends", "unknown", text, advice]]);
    expect((await health()).status).not.toBe("problem");
  });

  test("with statistics is found by the last task that ended", async () => {
    await rig.operator().configure({ statistics: true });
    await rig.queue().enqueueMany([{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    const [task] = await rig.queue().dequeue();
    await hang(task!, 12);
    const [other] = await rig.queue().dequeue();
    await other!.complete();
    await hang(task!, 8);
    expect(await findings()).toEqual([]);
    await hang(task!, 4);
    // Statistics are kept by the minute.
    expect(await findings()).toEqual([
      ["nothing_ends", "problem", expect.stringMatching(/for 24m, and nothing has ended for 11m/), HANGS],
    ]);
  });

  test("is not confused with leases that no sweep has reclaimed", async () => {
    await rig.queue().enqueue(1);
    await rig.queue().dequeue();
    rig.now += 20 * MINUTE;
    expect(await findings()).toEqual([
      [
        "not_swept",
        "problem",
        "tasks or leases are overdue for 15m",
        "cron does not sweep. To sweep once by hand: sluice sweep",
      ],
    ]);
    await sweep(rig.transport, { now });
    expect(await findings({ after: "30m" })).toEqual([]);
  });
});

describe("a queue with partitions", () => {
  const partitions = 3;

  test("has the findings of all of them", async () => {
    const queue = rig.queue<number>({ partitions });
    const operator = rig.operator({ partitions });
    await operator.configureGroup("a", { maxWorking: 1 });
    await operator.configureGroup("b", { maxWorking: 1 });
    const groups = ["a", "a", "b", "b"].map((group) => ({ payload: 1, group, lease: "1h" }) as const);
    await queue.enqueueMany(groups);
    const held = [...(await queue.dequeue({ max: 4 })), ...(await queue.dequeue({ max: 4 }))];
    expect(held).toHaveLength(2);
    await queue.enqueueMany(Array.from({ length: 9 }, () => ({ payload: 1 })));
    const [dead] = await queue.dequeue({ worker: { name: "w" } });
    await dead!.reject("no");
    rig.now += 11 * MINUTE;
    expect((await findings()).map(([code, , found]) => [code, found])).toEqual([
      [
        "nothing_taken",
        "10 pending, the next enqueued 11m ago, and 2 working; whether any is taken is not known without statistics",
      ],
      [
        "group_at_limit",
        expect.stringMatching(/^1 of group [ab] wait for its maxWorking 1, .*; other groups/),
      ],
      ["dead_letters", "1 dead letter"],
    ]);
    for (const task of held) await task.complete();
    expect((await findings())[0]?.slice(0, 3)).toEqual([
      "no_consumer",
      "problem",
      "10 pending, the next enqueued 11m ago, and no consumer works; a worker was last seen 11m ago",
    ]);
  });

  test("is stuck only if nothing is taken from any of them", async () => {
    const queue = rig.queue<number>({ partitions });
    await queue.enqueueMany(Array.from({ length: 3 }, () => ({ payload: 1, lease: "1m" })));
    const tasks: Extended[] = [];
    while (tasks.length < 2) tasks.push(...(await queue.dequeue()));
    for (let i = 0; i < 11; i++) {
      rig.now += MINUTE;
      for (const task of tasks) await task.extend(5 * MINUTE);
    }
    const text = "2 working, the longest for 11m, and nothing was taken for 11m";
    expect(await findings()).toEqual([["nothing_ends", "problem", text, HANGS]]);
    const [third] = await queue.dequeue();
    expect(await findings()).toEqual([]);
    await third!.complete();
  });
});

test("dead letters that are new are rising, and ten are a problem", async () => {
  const die = async (count: number) => {
    await rig.queue().enqueueMany(Array.from({ length: count }, () => ({ payload: 1 })));
    for (const task of await rig.queue().dequeue({ max: count })) await task.reject("no");
  };
  const advice = "sluice dead emails";
  await die(1);
  const rising = ["dead_letters_rising", "warning", "1 dead letter, just now", advice];
  expect(await findings()).toEqual([rising]);
  await die(1);
  expect((await findings())[0]?.[2]).toBe("2 dead letters, all new, just now");
  rig.now += MINUTE;
  await die(1);
  expect((await findings())[0]?.[2]).toBe("3 dead letters, all new: the first 1m ago, the last just now");
  rig.now += 10 * MINUTE;
  expect(await findings()).toEqual([["dead_letters", "warning", "3 dead letters", advice]]);
  await die(1);
  expect((await findings())[0]?.[2]).toBe("4 dead letters, 1 of them new, just now");
  await die(3);
  rig.now += 2 * MINUTE;
  await die(6);
  rig.now += MINUTE;
  const text = "13 dead letters, 10 of them new: the first of these 3m ago, the last 1m ago";
  expect(await findings()).toEqual([["dead_letters_rising", "problem", text, advice]]);
  await die(100);
  expect(await findings()).toEqual([
    [
      "dead_letters_rising",
      "problem",
      "113 dead letters, 110 of them new: the first of these 3m ago, the last just now",
      advice,
    ],
  ]);
});

test("a queue that a later release wrote cannot be read, and the others can", async () => {
  await rig.queue().enqueue(1);
  await rig.command("HSET", "sluice:{emails}:tasks", "~set", "3;new");
  await rig.queue({}).counts();
  const report = await health();
  expect(report.queues).toEqual([{ queue: QUEUE, status: "problem" }]);
  expect(report.findings.at(-1)).toMatchObject({
    code: "unreadable",
    found: "it cannot be read: newer_schema",
  });
  await rig.command("HDEL", "sluice:{emails}:tasks", "~set");
});

test("queues that do not match are not looked at", async () => {
  await rig.queue().enqueue(1);
  expect((await health({ queues: "other-*" })).queues).toEqual([]);
  expect((await health({ queues: "em*" })).queues).toEqual([
    { queue: QUEUE, status: "ok", pending: 1, working: 0 },
  ]);
});

test("the clock of Redis and that of the caller differ", async () => {
  const clock = async () =>
    (await health()).findings
      .filter(({ code }) => code === "clock_off")
      .map(({ status, found }) => [status, found]);
  rig.now = Date.now() + 3_600_500;
  expect(await clock()).toEqual([
    ["warning", expect.stringMatching(/^this machine is (1h|59m \d+s) behind Redis$/)],
  ]);
  rig.now = Date.now();
  expect(await clock()).toEqual([["ok", "this machine and Redis agree"]]);
});

test("a database that is nearly full", async () => {
  const memory = async (maxmemory: string) => {
    await rig.command("CONFIG", "SET", "maxmemory", maxmemory);
    return (await health()).findings.find(({ code }) => code === "database_nearly_full");
  };
  try {
    expect(await memory("0")).toMatchObject({ status: "ok", about: "memory" });
    const [, used] = /^used_memory:(\d+)/m.exec(String(await rig.command("INFO", "memory"))) ?? [];
    expect(await memory(String(Math.round(Number(used) / 0.87)))).toEqual({
      status: "warning",
      code: "database_nearly_full",
      about: "memory",
      found: expect.stringMatching(/^\d+ MB used of \d+ MB$/),
      advice:
        "a full Redis refuses tasks (queue_full). Purge completed tasks and dead letters, or take a larger one",
    });
  } finally {
    await rig.command("CONFIG", "SET", "maxmemory", "0");
  }
});

test.each([
  [{ queues: "a b" }, "queues must be a pattern of queue names"],
  [{ after: "1h" }, "after must be a duration of 1000 to 3540000 ms"],
  [{ every: "1h" }, "every"],
])("refuses %j", async (options, message) => {
  await expect(health(options as HealthOptions)).rejects.toThrow(message);
});
