import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { applyQueues, defineQueue, Operator, Producer, type Transport } from "../../../src/index.ts";
import { mapsKey, partsWithSchedules, queueKeys } from "../../../src/kernel/names/keys.ts";
import { countQueues } from "../../../src/operate/count-queues.ts";
import { owning } from "../../../src/features/partitions/map.ts";
import type { Command } from "../../../src/kernel/transport.ts";
import { instances } from "../../support/instances.ts";
import { named } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// The first partitions of a queue. Callers that do not know of them find markers in the place of the queue's keys.

const rig = useRig({ checkInvariants: false });
const {
  now,
  instance,
  dying,
  over,
  queueOf,
  operatorOf,
  schedulesOf,
  map,
  resize,
  keysIn,
  run,
  sweepAll,
  drainAll,
} = instances(rig);
const own = queueKeys(QUEUE);
const names = Array.from({ length: 40 }, (_, i) => `order-${i}`);
const enqueueNames = () => queueOf().enqueueMany(named(names));

/** Loses keys, and expects that a sweep restores all as it was. */
async function losing(lose: () => Promise<unknown>): Promise<void> {
  const before = await rig.keySpace();
  await lose();
  await sweepAll();
  expect(await rig.keySpace()).toEqual(before);
}

test("however late a call comes of an object that does not know of the partitions, its first copy changes nothing, and the object sends it again over the partitions", async () => {
  await enqueueNames();
  const late: Command[] = [];
  const [one, two] = await queueOf().dequeue({ max: 2 });
  const calls = async (transport: Transport) => {
    const queue = queueOf(undefined, transport);
    const operator = operatorOf(undefined, transport);
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
    await schedulesOf(transport).put("s", { every: "1h", payload: 1 });
  };
  // The texts of all calls, as they are on a queue without partitions.
  await calls(instance((_, commands) => late.push(...commands)));
  await resize(4);
  await run();
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

test("a caller that stops at any point of the first change leaves it to the next one", async () => {
  const had = new Set<number>();
  for (let at = 0; at < 10; at++) {
    await rig.command("FLUSHALL");
    await enqueueNames();
    const minutely = { every: "1m", from: rig.now, payload: "tick" } as const;
    await schedulesOf().put("s", minutely);
    await schedulesOf().put("s.g", { ...minutely, group: "customer-1" });
    await resize(4, dying(at)).catch(() => undefined);
    had.add((await map()).version);
    const unaware = queueOf();
    for (const id of names.slice(0, 4))
      expect(await unaware.enqueue(1, { id })).toEqual({ id, created: false });
    await unaware.enqueue(1, { id: "new" });
    rig.now += 120_000;
    for (let i = 0; i < 3; i++) await run();
    const isSplit = (await map()).version > 0;
    expect(owning(await map())).toEqual(isSplit ? [0, 1, 2, 3] : [0]);
    const done = await drainAll();
    expect(done.filter((id) => !id.startsWith("s."))).toEqual([...names, "new"].toSorted());
    const scheduled = [/^s\.\d/, /^s\.g\.\d/].map((form) => done.some((id) => form.test(id)));
    expect(scheduled, `stopped before request ${at}`).toEqual([true, true]);
    const entries = (await rig.command("ZRANGE", "sluice:queues", "0", "-1")) as string[];
    expect(["~emails/0", "~emails"].map((entry) => entries.includes(entry))).toEqual([isSplit, !isSplit]);
  }
  expect(had.has(0) && had.has(1)).toBe(true);
});

test("calls that know only the name of a queue succeed if the caller that gives it partitions has stopped", async () => {
  const declared = defineQueue(QUEUE, { partitions: 4, maxWorking: 5 });
  /** Begins a change anew that stops before a request. @returns whether it has come so far */
  const stopsBefore = async (request: number) => {
    await rig.command("FLUSHALL");
    await enqueueNames();
    return (await resize(4, dying(request)).catch(() => undefined)) === undefined;
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

test("a call on several queues succeeds if its instance learns meanwhile that one of them has partitions", async () => {
  const both = [QUEUE, "reports"];
  for (const name of both) await new Operator(name, { transport: rig.transport, now }).resize(2);
  const maps = await rig.command("HGET", mapsKey(), "reports");
  await rig.command("HDEL", mapsKey(), ...both);
  const transport: Transport = {
    async send(commands, options) {
      if (isDeepStrictEqual(commands[0], ["GET", own.tasks])) {
        await rig.command("HSET", mapsKey(), "reports", String(maps));
        await new Operator("reports", { transport, now }).listPartitions();
      }
      return rig.transport.send(commands, options);
    },
  };
  const counted = await countQueues(transport, both, { now });
  expect(counted).toMatchObject([{ pending: 0 }, { pending: 0 }]);
});

test("two producers that begin a new queue, one that knows of its partitions and one that does not, add no id twice", async () => {
  // Each request of one runs in front of each request of the other.
  for (let order = 0; order < 64; order++) {
    await rig.command("FLUSHALL");
    const turns = Array.from({ length: 6 }, (_, bit) => (order >> bit) & 1);
    const waiting: [(() => void)[], (() => void)[]] = [[], []];
    const gate = (which: 0 | 1) =>
      instance(() => new Promise<void>((resolve) => waiting[which].push(resolve)));
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
    expect(await drainAll(queueOf(4))).toEqual(["x"]);
  }
});

test("producers go on while new partitions wait for the settings of the queue, which a sweep gives them", async () => {
  await operatorOf().configure({ maxWorking: 10 });
  const producer = new Producer(QUEUE, over(instance(), 4));
  for (const id of names) expect((await producer.enqueue(1, { id })).created).toBe(true);
  expect(await map()).toMatchObject({ isPreparing: true, version: 1 });
  expect(owning(await map())).toEqual([0]);
  await run();
  expect(owning(await map())).toEqual([0, 1, 2, 3]);
  for (const id of names) expect((await producer.enqueue(1, { id })).created).toBe(false);
  expect(await operatorOf().settings()).toMatchObject({ maxWorking: 10 });
});

test("of several numbers at the same time one is the last, and of one that follows none is lost", async () => {
  await queueOf().enqueue(1, { id: "old" });
  await Promise.all([2, 3, 4, 5, 6].map((count) => resize(count)));
  const { next, owners } = await map();
  expect(next).toBe(undefined);
  expect([2, 3, 4, 5, 6]).toContain(owning({ owners }).length);
  await applyQueues(instance(), [defineQueue(QUEUE, { partitions: 7 })], { now });
  expect(owning(await map()).length).toBe(7);
  expect(await queueOf().enqueue(1, { id: "old" })).toEqual({ id: "old", created: false });
});

describe("a sweep puts back what Redis has lost", () => {
  test("of the markers, and a key that came back under its old name; it reports tasks under both names", async () => {
    await resize(2);
    await queueOf(2).enqueueMany(named(names));
    await losing(() => rig.command("DEL", own.tasks, own.pending));
    await losing(async () => {
      await rig.command("DEL", own.pending);
      await rig.command("RENAME", keysIn(0).pending, own.pending);
    });
    expect((await queueOf().enqueue(1, { id: "order-3" })).created).toBe(false);
    await rig.command("DEL", own.tasks);
    await rig.command("HSET", own.tasks, "old", "1;1\nj1");
    expect(await run()).toMatchObject({ failed: [{ queue: QUEUE, code: "unexpected_reply" }] });
    expect(await rig.command("EXISTS", keysIn(0).tasks)).toBe(1);
    await rig.command("HDEL", "{sluice:queues}:maps", QUEUE);
    await expect(resize(3)).rejects.toMatchObject({
      code: "unexpected_reply",
      message: expect.stringMatching(
        /^emails has tasks under its own keys .* rename its own keys .* sweep, .* import/,
      ),
    });
  });

  test("of the markers each alone", async () => {
    await resize(2);
    await schedulesOf().put("s", { every: "1h", payload: 1 });
    for (const part of partsWithSchedules) await losing(() => rig.command("DEL", own[part]));
  });

  test.each([
    ["one marker was", [own.timetable]] as const,
    ["two markers were", [own.timetable, own.schedules]] as const,
  ])("and keeps a schedule that was put while %s lost", async (_, lost) => {
    await resize(2);
    await rig.command("DEL", ...lost);
    expect(await schedulesOf().put("s", { every: "1h", payload: 1 })).toMatchObject({ created: true });
    expect(await rig.command("TYPE", own.timetable)).toBe("hash");
    for (let i = 0; i < 2; i++) await sweepAll();
    expect(await rig.command("MGET", own.timetable, own.schedules)).toEqual(["1;2", "1;2"]);
    expect((await schedulesOf().list()).schedules).toMatchObject([{ name: "s" }]);
    rig.now += 3_600_000;
    expect(await sweepAll()).toMatchObject({ scheduled: 1 });
  });
});
