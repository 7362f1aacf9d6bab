import { describe, expect, test } from "vitest";
import { applyQueues, defineQueue, Operator, Producer, Queue, Schedules, sweep } from "../../../src/index.ts";
import { nameOfPartition, partsWithSchedules, queueKeys } from "../../../src/queue/core/keys.ts";
import { countQueues } from "../../../src/queue/operate/count-queues.ts";
import { copySettings } from "../../../src/queue/partitions/copy-settings.ts";
import { owning } from "../../../src/queue/partitions/map.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { resizeQueue } from "../../../src/queue/partitions/resize.ts";
import type { Command, Transport } from "../../../src/queue/redis/transport.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// The first partitions of a queue. Callers that do not know of them find markers in the place of the queue's keys.

const rig = useRig({ checkInvariants: false });

/** A transport of another function instance, which remembers nothing. */
const instance = (): Transport => ({ send: (commands, options) => rig.transport.send(commands, options) });
const over = (transport: Transport, partitions?: number) => ({ transport, partitions, now: () => rig.now });
const queueOf = (transport: Transport, partitions?: number) => new Queue(QUEUE, over(transport, partitions));
const place = (transport = rig.transport) => ({
  name: QUEUE,
  prefix: undefined,
  transport,
  now: () => rig.now,
  copySettings,
});
const map = () => fetchMap(place());
const resize = (count: number) => resizeQueue(place(), count);
const names = Array.from({ length: 40 }, (_, i) => `order-${i}`);
const registry = async () => (await rig.command("ZRANGE", "sluice:queues", "0", "-1")) as string[];

/** Stops before its request `at`, as a process that dies. */
function stopping(at: number): Transport {
  let left = at;
  return {
    async send(commands, options) {
      if (left-- === 0) throw new Error("stopped");
      return rig.transport.send(commands, options);
    },
  };
}

/** Takes all tasks and completes them; their ids. */
async function drainAll(queue: Queue): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const tasks = await queue.dequeue({ max: 50 });
    if (tasks.length === 0) return ids;
    await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
    ids.push(...tasks.map(({ id }) => id));
  }
}

test("a queue in use gets its partitions at once, and producers that do not know of them add no id twice", async () => {
  const unaware = queueOf(instance());
  for (const id of names) await unaware.enqueue(1, { id });
  expect((await resize(4)).next).toBe(undefined);
  expect(owning(await map())).toEqual([0, 1, 2, 3]);
  for (const id of names) {
    expect(await unaware.enqueue(1, { id })).toEqual({ id, created: false });
    expect(await queueOf(instance()).enqueue(1, { id })).toEqual({ id, created: false });
    expect((await queueOf(instance(), 4).enqueue(1, { id: `new-${id}` })).created).toBe(true);
    expect((await unaware.enqueue(1, { id: `new-${id}` })).created).toBe(false);
  }
  expect((await drainAll(queueOf(instance()))).toSorted()).toEqual(
    [...names, ...names.map((id) => `new-${id}`)].toSorted(),
  );
});

test("a copy of an enqueue with an idempotency key has the same ids before and after the change", async () => {
  const tasks = [
    { payload: 1 },
    { payload: 2, group: "g" },
    { payload: 3, dedup: { key: "k", window: "1h" } },
  ] as const;
  const before = await queueOf(instance()).enqueueMany(tasks, { idempotencyKey: "once" });
  await resize(4);
  for (const partitions of [undefined, 4]) {
    const after = await queueOf(instance(), partitions).enqueueMany(tasks, { idempotencyKey: "once" });
    expect(after).toEqual(before);
  }
  for (const { id } of before)
    expect(await queueOf(instance(), 4).get(id)).toMatchObject({ state: "pending" });
  expect((await queueOf(instance(), 4).counts()).pending).toBe(3);
});

describe("however late a call comes of an object that does not know of the partitions", () => {
  test("its first copy changes nothing, and the object sends it again over the partitions", async () => {
    await queueOf(instance()).enqueueMany(names.map((id) => ({ payload: 1, id })));
    const late: Command[] = [];
    const recorded: Transport = {
      send(commands, options) {
        late.push(...commands);
        return rig.transport.send(commands, options);
      },
    };
    const [one, two] = await queueOf(instance()).dequeue({ max: 2 });
    const calls = async (transport: Transport) => {
      const queue = queueOf(transport);
      const operator = new Operator(QUEUE, over(transport));
      await queue.enqueue(1, { id: "late" });
      await queue.enqueue(1);
      await queue.enqueueMany([
        { payload: 1, id: "late-1" },
        { payload: 2, group: "g" },
      ]);
      await queue.settle([{ receipt: one?.receipt ?? "", outcome: "requeue" }]);
      await queue.cancel("order-7");
      await queue.dequeue({ max: 3, token: "tokentoken" });
      await operator.pause();
      await operator.resume();
      await operator.configureGroup("g", { weight: 2 });
      await operator.redrive();
      await operator.purge({ state: "completed" });
      await new Schedules(QUEUE, over(transport)).put("s", { every: "1h", payload: 1 });
    };
    // The texts of all calls, as they are on a queue without partitions.
    await calls(recorded);
    await resize(4);
    await sweep(rig.transport, { now: () => rig.now });
    const plain = late.filter(
      (command) => "script" in command && command.keys.some((key) => key.startsWith("sluice:{emails}:")),
    );
    expect(plain.length).toBeGreaterThan(12);
    rig.now += 10 * 60_000;
    const before = await rig.keySpace();
    for (const command of plain) {
      const [outcome] = await rig.transport.send([command]);
      expect(outcome).toMatchObject({
        error: { code: "redis_error", message: expect.stringMatching("WRONGTYPE") },
      });
    }
    expect(await rig.keySpace()).toEqual(before);
    // The objects themselves work on.
    expect(await two?.complete()).toMatchObject({ ok: true });
    await calls(instance());
  });
});

test("operators that do not know of the partitions see and change all of them", async () => {
  await resize(4);
  await queueOf(instance(), 4).enqueueMany(names.map((id) => ({ payload: 1, id })));
  const operator = () => new Operator(QUEUE, over(instance()));
  expect((await queueOf(instance()).counts()).pending).toBe(40);
  expect((await operator().list({ state: "pending", size: 100 })).tasks.length).toBe(40);
  expect((await operator().peek({ max: 100 })).length).toBe(40);
  await operator().pause();
  expect([...(await queueOf(instance(), 4).dequeue({ max: 10 }))]).toEqual([]);
  await operator().resume();
  for (const id of names) expect(await queueOf(instance()).get(id)).toMatchObject({ state: "pending" });
  expect(await queueOf(instance()).cancel("order-3")).toEqual({ ok: true, state: "rejected" });
  expect(await operator().purge({ state: "pending" })).toMatchObject({ purged: 39 });
});

test("a caller that stops at any point of the first change leaves it to the next one", async () => {
  const had = new Set<number>();
  for (let at = 0; at < 10; at++) {
    await rig.command("FLUSHALL");
    await queueOf(instance()).enqueueMany(names.map((id) => ({ payload: 1, id })));
    await new Schedules(QUEUE, over(instance())).put("s", { every: "1m", from: rig.now, payload: "tick" });
    await resizeQueue(place(stopping(at)), 4).catch(() => undefined);
    had.add((await map()).version);
    const unaware = queueOf(instance());
    for (const id of names.slice(0, 4))
      expect(await unaware.enqueue(1, { id })).toEqual({ id, created: false });
    await unaware.enqueue(1, { id: "new" });
    rig.now += 120_000;
    for (let i = 0; i < 3; i++) await sweep(rig.transport, { now: () => rig.now });
    const isSplit = (await map()).version > 0;
    expect(owning(await map())).toEqual(isSplit ? [0, 1, 2, 3] : [0]);
    const done = await drainAll(queueOf(instance()));
    expect(done.filter((id) => !id.startsWith("s.")).toSorted()).toEqual([...names, "new"].toSorted());
    expect(done.filter((id) => id.startsWith("s.")).length, `stopped before request ${at}`).toBeGreaterThan(
      0,
    );
    const entries = await registry();
    expect(entries.includes("~emails/0")).toBe(isSplit);
    expect(entries.includes("~emails")).toBe(!isSplit);
  }
  expect(had.has(0) && had.has(1)).toBe(true);
});

test("calls that know only the name of a queue succeed if the caller that gives it partitions has stopped", async () => {
  const declared = defineQueue(QUEUE, { partitions: 4, maxWorking: 5 });
  const now = () => rig.now;
  /** Begins a change anew that stops before a request. @returns whether it has come so far */
  const stopsBefore = async (request: number) => {
    await rig.command("FLUSHALL");
    await queueOf(instance()).enqueueMany(names.map((id) => ({ payload: 1, id })));
    return (await resizeQueue(place(stopping(request)), 4).catch(() => undefined)) === undefined;
  };
  let at = 0;
  for (; await stopsBefore(at); at++) {
    const report = await applyQueues(instance(), [declared], { now });
    expect({ at, ...report }).toEqual({ at, applied: [QUEUE], deferred: [], failed: [] });
    expect(owning(await map())).toEqual([0, 1, 2, 3]);
    await stopsBefore(at);
    const [counted] = await countQueues(instance(), [QUEUE], { now });
    expect({ at, ...counted }).toMatchObject({ at, pending: names.length });
  }
  expect(at).toBeGreaterThan(4);
});

test("two producers that begin a new queue, one that knows of its partitions and one that does not, add no id twice", async () => {
  // Each request of one runs in front of each request of the other.
  for (let order = 0; order < 64; order++) {
    await rig.command("FLUSHALL");
    const turns = Array.from({ length: 6 }, (_, bit) => (order >> bit) & 1);
    const waiting: [(() => void)[], (() => void)[]] = [[], []];
    const gate = (which: 0 | 1): Transport => ({
      async send(commands, options) {
        await new Promise<void>((resolve) => waiting[which].push(resolve));
        return rig.transport.send(commands, options);
      },
    });
    const calls = [
      new Producer(QUEUE, over(gate(0))).enqueue(1, { id: "x" }),
      new Producer(QUEUE, over(gate(1), 4)).enqueue(1, { id: "x" }),
    ];
    const ended = new Set<unknown>();
    for (const call of calls) void call.finally(() => ended.add(call)).catch(() => {});
    for (let turn = 0; ended.size < 2; turn++) {
      const wanted = (turns[turn] ?? turn % 2) as 0 | 1;
      await new Promise((resolve) => setImmediate(resolve));
      const next = waiting[wanted].shift() ?? waiting[1 - wanted]?.shift();
      next?.();
    }
    const created = (await Promise.all(calls)).map((one) => one.created);
    expect(created.filter(Boolean).length, `order ${order}`).toBe(1);
    expect(await drainAll(queueOf(instance(), 4))).toEqual(["x"]);
  }
});

test("producers go on while new partitions wait for the settings of the queue, which a sweep gives them", async () => {
  await new Operator(QUEUE, over(instance())).configure({ maxWorking: 10 });
  const producer = new Producer(QUEUE, over(instance(), 4));
  for (const id of names) expect((await producer.enqueue(1, { id })).created).toBe(true);
  expect(await map()).toMatchObject({ isPreparing: true, version: 1 });
  expect(owning(await map())).toEqual([0]);
  await sweep(rig.transport, { now: () => rig.now });
  expect(owning(await map())).toEqual([0, 1, 2, 3]);
  for (const id of names) expect((await producer.enqueue(1, { id })).created).toBe(false);
  expect(await new Operator(QUEUE, over(instance())).settings()).toMatchObject({ maxWorking: 10 });
});

test("of several numbers at the same time one is the last, and of one that follows none is lost", async () => {
  await queueOf(instance()).enqueue(1, { id: "old" });
  await Promise.all([2, 3, 4, 5, 6].map((count) => resizeQueue(place(instance()), count)));
  const { next, owners } = await map();
  expect(next).toBe(undefined);
  expect([2, 3, 4, 5, 6]).toContain(owning({ owners }).length);
  await applyQueues(instance(), [defineQueue(QUEUE, { partitions: 7 })], { now: () => rig.now });
  expect(owning(await map()).length).toBe(7);
  expect(await queueOf(instance()).enqueue(1, { id: "old" })).toEqual({ id: "old", created: false });
});

test("a sweep puts back a marker that Redis has lost, and reports tasks under both names", async () => {
  await resize(2);
  await queueOf(instance(), 2).enqueueMany(names.map((id) => ({ payload: 1, id })));
  const { tasks, pending } = queueKeys(QUEUE);
  const before = await rig.keySpace();
  await rig.command("DEL", tasks, pending);
  expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ failed: [] });
  expect(await rig.keySpace()).toEqual(before);
  expect((await queueOf(instance()).enqueue(1, { id: "order-3" })).created).toBe(false);
  await rig.command("DEL", tasks);
  await rig.command("HSET", tasks, "old", "1;1\nj1");
  expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({
    failed: [{ queue: QUEUE, code: "unexpected_reply" }],
  });
  expect(await rig.command("EXISTS", queueKeys(nameOfPartition(QUEUE, 0)).tasks)).toBe(1);
  await rig.command("HDEL", "{sluice:queues}:maps", QUEUE);
  await expect(resize(3)).rejects.toMatchObject({
    code: "unexpected_reply",
    message: expect.stringMatching(
      /^emails has tasks under its own keys .* rename its own keys .* sweep, .* import/,
    ),
  });
});

test.each(partsWithSchedules)("a sweep puts back the marker of %s alone", async (part) => {
  await resize(2);
  await new Schedules(QUEUE, over(instance())).put("s", { every: "1h", payload: 1 });
  const before = await rig.keySpace();
  await rig.command("DEL", queueKeys(QUEUE)[part]);
  expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ failed: [] });
  expect(await rig.keySpace()).toEqual(before);
});

test("what a put of a schedule left under a key without its marker goes when a sweep puts that back", async () => {
  await resize(2);
  const { timetable, schedules } = queueKeys(QUEUE);
  await rig.command("DEL", timetable);
  const put = await new Schedules(QUEUE, over(instance())).put("s", { every: "1h", payload: 1 });
  expect(put.created).toBe(true);
  expect(await rig.command("TYPE", timetable)).toBe("hash");
  expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ failed: [] });
  expect(await rig.command("MGET", timetable, schedules)).toEqual(["1;2", "1;2"]);
  const page = await new Schedules(QUEUE, over(instance())).list();
  expect(page.schedules.map(({ name }) => name)).toEqual(["s"]);
});

test("a sweep gives partition 0 a key that came back under its old name", async () => {
  await resize(2);
  await queueOf(instance(), 2).enqueueMany(names.map((id) => ({ payload: 1, id })));
  const { pending } = queueKeys(QUEUE);
  const before = await rig.keySpace();
  await rig.command("DEL", pending);
  await rig.command("RENAME", queueKeys(nameOfPartition(QUEUE, 0)).pending, pending);
  expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ failed: [] });
  expect(await rig.keySpace()).toEqual(before);
});

test("a sweep gives partition 0 a schedule that was put while two markers were lost", async () => {
  await resize(2);
  const { timetable, schedules } = queueKeys(QUEUE);
  await rig.command("DEL", timetable, schedules);
  await new Schedules(QUEUE, over(instance())).put("s", { every: "1h", payload: 1 });
  for (let i = 0; i < 2; i++) {
    expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ failed: [] });
  }
  expect(await rig.command("MGET", timetable, schedules)).toEqual(["1;2", "1;2"]);
  expect(await new Schedules(QUEUE, over(instance())).get("s")).toMatchObject({ name: "s" });
  rig.now += 3_600_000;
  expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ failed: [], scheduled: 1 });
});

test("a sweep gives a queue no partitions of which only the registry has a note", async () => {
  await queueOf(instance()).enqueueMany(names.map((id) => ({ payload: 1, id })));
  await rig.command("ZADD", "sluice:queues", "2", `/${QUEUE}`);
  const { tasks } = queueKeys(QUEUE);
  for (let i = 0; i < 2; i++) {
    expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ failed: [] });
    expect(await rig.command("TYPE", tasks)).toBe("hash");
  }
  expect((await drainAll(queueOf(instance()))).toSorted()).toEqual(names.toSorted());
});
