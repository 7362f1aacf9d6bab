import { describe, expect, test } from "vitest";
import { type HealthOptions, Schedules, sweep } from "../../../src/index.ts";
import { many } from "../../support/new-tasks.ts";
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
    await rig.command("HSET", "sluice:{emails}:tasks", "~s:tenant-7", "2;new");
    expect((await health()).findings.at(-1)).toMatchObject({ names: ["it's"] });
    await rig.command("HSET", "sluice:{emails}:tasks", "~s:tenant-7", SET);
    await rig.operator().configureGroup("tenant-7", { maxWorking: null });
    const text = "1 of group it's wait for its rate 1 per 2h, the next enqueued 12m ago";
    const advice = `raise the limit, if it is not meant: sluice settings emails --group 'it'\\''s' rate=…`;
    expect((await findings()).at(-1)).toEqual(["group_at_limit", "warning", text, advice]);
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

describe("schedules", () => {
  const schedules = () => new Schedules(QUEUE, { transport: rig.transport, now });

  test("that are paused are named; those that have ended are not", async () => {
    for (const name of ["daily", "weekly"]) {
      await schedules().put(name, { every: "24h", payload: 1, paused: true });
      rig.now += 3 * MINUTE;
    }
    await schedules().put("once", { every: "1h", from: rig.now, until: rig.now + 1, payload: 1 });
    await sweep(rig.transport, { now });
    expect((await health()).findings.at(-1)).toMatchObject({
      code: "schedule_paused",
      status: "warning",
      found: "paused schedules: daily for 6m, weekly for 3m",
      advice: "sluice schedules emails --resume daily",
      names: ["daily", "weekly"],
    });
    await schedules().resume("daily");
    expect((await findings()).at(-1)?.[2]).toBe("schedule weekly has been paused for 3m");
  });

  test("that are paused are said to have missed what is not made up", async () => {
    const paused = async () => (await health()).findings.find(({ code }) => code === "schedule_paused");
    await schedules().put("daily", { every: "24h", payload: 1 });
    await schedules().put("often", { every: "5m", payload: 1 });
    rig.now += 5 * MINUTE;
    await sweep(rig.transport, { now });
    rig.now += MINUTE;
    await schedules().pause("often");
    rig.now += 5 * MINUTE;
    expect(await paused()).toMatchObject({
      found: "schedule often has been paused for 5m (1 occurrence missed, the last 1m ago)",
      advice:
        "sluice schedules emails --resume often; what was missed is not made up: sluice schedules emails --run often",
    });
    rig.now += 10 * MINUTE;
    expect(await paused()).toMatchObject({
      found: "schedule often has been paused for 15m (3 occurrences missed, the last 1m ago)",
    });
    await schedules().pause("daily");
    expect((await paused())?.found).toBe(
      "paused schedules: daily for 0ms, often for 15m (3 occurrences missed, the last 1m ago)",
    );
    expect(await schedules().resume("often")).toMatchObject({ ok: true, skipped: 3 });
    await sweep(rig.transport, { now });
    expect(await rig.queue().counts()).toMatchObject({ pending: 1 });
  });

  test("that cannot enqueue, because the queue is full, are late", async () => {
    await rig.operator().configure({ maxPending: 1 });
    await schedules().put("hourly", { every: "1h", from: rig.now + MINUTE, payload: 1 });
    await rig.queue().enqueue(1);
    rig.now += MINUTE;
    await sweep(rig.transport, { now });
    rig.now += 4 * MINUTE;
    await sweep(rig.transport, { now });
    const late = "schedule hourly was due 4m ago, and has not occurred";
    const full = "the queue has its maxPending of 1: let the consumers catch up, or raise it";
    expect(await findings()).toEqual([["schedule_failing", "problem", late, full]]);
    await rig.operator().configure({ maxPending: null });
    const other = "cron does not sweep, or the queue or Redis is full. To sweep once by hand: sluice sweep";
    expect(await findings()).toEqual([["schedule_failing", "problem", late, other]]);
    await sweep(rig.transport, { now });
    expect(await findings()).toEqual([]);
  });

  test("of which many are late are counted, and ten are named", async () => {
    for (let i = 0; i < 12; i++)
      await schedules().put(`s${i}`, { every: "1h", from: rig.now + 1_000 * (i + 1), payload: 1 });
    rig.now += 5 * MINUTE;
    const found = (await health()).findings.at(-1);
    expect(found).toMatchObject({
      code: "schedule_failing",
      found: "12 schedules are late; s0 was due 4m 59s ago, and has not occurred",
    });
    expect((found as { names?: string[] }).names).toHaveLength(10);
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
  await rig.command("HSET", "sluice:{emails}:tasks", "~set", "2;new");
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
