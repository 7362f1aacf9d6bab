import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Queue, sweep, type Transport, type Waker } from "../../../src/index.ts";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { many } from "../../support/new-tasks.ts";
import { roomFor } from "../../support/no-room.ts";
import { byPlainScript } from "../../support/plain-enqueue.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();

let woken: string[];
const waker = (more: Partial<Waker> = {}): Waker => ({ wake: (queue) => woken.push(queue), ...more });
const producer = (more: Partial<Waker> = {}) => rig.queue({ wake: waker(more) });
const sweepOnce = () => sweep(rig.transport, { now: () => rig.now, wake: waker() });
const field = async () => (await rig.space()).tasks.get("~wake");

beforeEach(() => {
  woken = [];
});

describe("in a full Redis", () => {
  const fill = () => rig.command("CONFIG", "SET", "maxmemory", "1");
  afterEach(() => rig.command("CONFIG", "SET", "maxmemory", "0"));

  test("a copy of an enqueue that succeeded still gets its answer, and its consumer is woken", async () => {
    const one = (queue: Queue) => queue.enqueue(1, { idempotencyKey: "one" });
    const two = (queue: Queue) =>
      queue.enqueueMany([{ payload: 1, id: "x" }, { payload: 2 }], { idempotencyKey: "two" });
    const first = [await one(rig.queue()), await two(rig.queue())];
    await fill();
    expect([await one(producer()), await two(producer())]).toEqual(first);
    expect(woken).toEqual(["emails", "emails"]);
    expect(await rig.queue().dequeue({ max: 10 })).toHaveLength(3);
  });

  test("wakeAnother still wakes once a window, and a sweep once", async () => {
    await producer().enqueueMany(many(3));
    rig.now += 5_000;
    await fill();
    expect([await producer().wakeAnother(), await producer().wakeAnother()]).toEqual([true, false]);
    rig.now += 5_000;
    expect([await sweepOnce(), await sweepOnce()]).toMatchObject([{ woken: 1 }, { woken: 0 }]);
  });
});

describe("with room for a task and not for the note of its wake", () => {
  let short: boolean;
  const transport: Transport = {
    send: (commands, options) => (short ? roomFor(rig.transport, 0) : rig.transport).send(commands, options),
  };
  beforeEach(async () => {
    short = false;
    // After this first call a single enqueue does not read the settings for a minute.
    await rig.queue({ transport }).enqueue("before", { delay: "1h" });
    short = true;
  });

  test("a lone enqueue adds its task, and leaves the wake to the next sweep", async () => {
    const queue = rig.queue({ transport, wake: waker() });
    expect(await queue.enqueue(1, { id: "x" })).toEqual({ id: "x", created: true });
    expect([(await rig.space()).pending, woken, await field()]).toEqual([["x"], [], undefined]);
    expect(await sweep(transport, { now: () => rig.now, wake: waker() })).toMatchObject({ woken: 1 });
  });

  test("a lone plain task that finds the queue empty is added, and wakes a consumer", async () => {
    const args = { testNow: String(rig.now), wake: "60000", ifEmpty: "1" };
    const task = { id: "x", record: "\nj1" };
    const answer = await byPlainScript(transport, queueKeys(QUEUE), [task], args);
    expect(answer).toEqual({ created: [true], wake: true });
    expect([(await rig.space()).pending, await field()]).toEqual([["x"], undefined]);
  });

  test("wakeAnother wakes no consumer, because each one would wake another", async () => {
    const queue = rig.queue({ transport, wake: waker() });
    expect(await queue.wakeAnother()).toBe(false);
    expect(woken).toEqual([]);
  });
});

test("no consumer counts as active after the clock jumps back", async () => {
  const queue = producer();
  await queue.enqueueMany(many(9));
  for (const wakesAgain of [() => queue.enqueue(1), sweepOnce, () => queue.wakeAnother()]) {
    rig.now -= 3_600_000;
    await wakesAgain();
  }
  expect(woken).toHaveLength(4);
  // A consumer that was woken before and takes tasks later.
  rig.now += 7_200_000;
  await rig.queue().dequeue();
  rig.now -= 3_600_000;
  await queue.enqueue(2);
  expect(woken).toHaveLength(5);
});

test("wakeAnother with a shorter window does not shorten the window of an active consumer", async () => {
  await producer().enqueueMany(many(9));
  rig.now += 20_000;
  expect(await producer({ window: 100 }).wakeAnother()).toBe(true);
  rig.now += 50;
  await rig.queue().dequeue();
  rig.now += 4_900;
  await producer().enqueue(1);
  expect(woken).toHaveLength(2);
  expect(await producer({ window: 100 }).wakeAnother()).toBe(true);
});

test("a sweep that fails midway sends the wakes that it has noted", async () => {
  for (let i = 0; i < 51; i++) {
    await new Queue(`q${i}`, { transport: rig.transport, now: () => rig.now }).enqueue(1);
  }
  let calls = 0;
  const transport: Transport = {
    send: (commands, options) => {
      const [first] = commands;
      const isSweep = first !== undefined && "script" in first && first.script.name === "sweep";
      if (isSweep && ++calls === 2) return Promise.reject(new Error("no connection"));
      return rig.transport.send(commands, options);
    },
  };
  await expect(sweep(transport, { now: () => rig.now, wake: waker() })).rejects.toThrow("no connection");
  expect(new Set(woken).size).toBe(50);
});

describe("an enqueue succeeds even if its waker fails", () => {
  const failing = () => {
    throw new Error("not now");
  };
  afterEach(() => vi.restoreAllMocks());

  test.each([
    ["onError throws", { wake: failing, onError: failing }],
    ["waitUntil throws", { waitUntil: failing }],
  ])("%s", async (_, more: Partial<Waker>) => {
    const reported = vi.spyOn(console, "warn").mockImplementation(() => {});
    expect(await producer(more).enqueue(1)).toMatchObject({ created: true });
    expect(reported.mock.calls).toEqual([['{"wake":"emails","failed":"not now"}']]);
  });
});
