import { describe, expect, test, vi } from "vitest";
import { drain, Producer, Schedules, SluiceError } from "../../../src/index.ts";
import type { Offload } from "../../../src/features/offload/types.ts";
import { encrypting, MARKER, shows } from "../../support/encrypting.ts";
import { awkwardPayloads, comparable } from "../../support/payloads.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { down, large, withStore } from "./rig.ts";

const rig = useRig();
const setUp = (options?: Parameters<typeof withStore>[1]) => withStore(rig, options);
const both = ["a", "b"].map((id) => ({ payload: large(id), id }));

type Send = typeof rig.transport.send;
/** A producer whose requests go through this function. */
const producerOf = (offload: Offload, send: Send) =>
  new Producer(QUEUE, { transport: { send }, offload, now: () => rig.now });

/** The tasks hash, without the records that have no payload. */
const recordsIn = async () => (await rig.space()).tasks;

describe("a payload over the threshold goes to the store, and a reference travels", () => {
  test("through all of a task's life; the object goes away when the task is completed", async () => {
    const { store, queue } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    await queue.enqueue({ small: true }, { id: "b" });
    expect(await store.keys()).toEqual([
      expect.stringMatching(/^sluice\/[A-Za-z0-9]{16}\/emails\/a\/[A-Za-z0-9]{16}$/),
    ]);
    const record = (await recordsIn()).get("a") ?? "";
    expect(record).toMatch(/\nbAFNMVUlDRQI/);
    expect(record.length).toBeLessThan(200);
    expect(await queue.get("a", { payload: true })).toMatchObject({ payload: large("a") });

    const tasks = await queue.dequeue({ max: 10 });
    expect(tasks.map(({ payload }) => payload)).toEqual([large("a"), { small: true }]);
    expect(await tasks[0]?.extend()).toMatchObject({ ok: true });
    expect(await store.keys()).toHaveLength(1);
    await tasks[0]?.complete();
    await tasks[1]?.complete();
    expect(await store.keys()).toEqual([]);
    // The small one caused no request.
    expect(store.requests.map((request) => request.split(" ")[0])).toEqual(["put", "get", "get", "delete"]);
  });

  test("and comes back as it was, byte for byte, JSON or bytes (law 9)", async () => {
    const { queue } = setUp({ over: 0 });
    const values = awkwardPayloads.map(([, value]) => value);
    for (let i = 0; i < values.length; i += 5) {
      await queue.enqueueMany(values.slice(i, i + 5).map((payload) => ({ payload })));
    }
    const tasks = await queue.dequeue({ max: 1_000, maxBytes: 50_000_000 });
    expect(tasks.map(({ payload }) => comparable(payload))).toStrictEqual(values.map(comparable));
  });

  test("encrypted if the queue is: neither Redis nor the store shows it", async () => {
    const { store, offload } = setUp();
    const encryption = encrypting();
    const queue = rig.queue({ offload, encryption });
    const payload = { note: MARKER.repeat(20) };
    await queue.enqueue(payload, { id: "a" });
    const [object = ""] = await store.keys();
    const bytes = (await store.get(object, {})) ?? new Uint8Array();
    expect(shows(Buffer.from(bytes).toString("base64"))).toBe(false);
    expect(shows(JSON.stringify([...(await recordsIn())]))).toBe(false);
    expect(await queue.get("a", { payload: true })).toMatchObject({ payload });
    expect((await queue.dequeue())[0]?.payload).toEqual(payload);
    const plain = rig.queue({ offload }).get("a", { payload: true });
    await expect(plain).rejects.toMatchObject({ code: "undecryptable" });
  });

  test("of up to 100 MB", async () => {
    const { queue } = setUp({ over: 262_144, maxBytes: 100_000_000 });
    const payload = new Uint8Array(100_000_000).fill(7);
    payload[99_999_999] = 8;
    await queue.enqueue(payload, { id: "a" });
    const [task] = await queue.dequeue();
    expect(Buffer.compare(task?.payload as Uint8Array, payload)).toBe(0);
    const tooLarge = queue.enqueue(new Uint8Array(100_000_001));
    await expect(tooLarge).rejects.toMatchObject({ code: "too_large", path: "payload" });
  });

  test("at exactly the threshold it stays in Redis", async () => {
    const { store, queue } = setUp();
    // With the letter before it.
    await queue.enqueueMany([{ payload: "x".repeat(97) }, { payload: new Uint8Array(99) }]);
    expect(await store.keys()).toEqual([]);
    await queue.enqueueMany([{ payload: "x".repeat(98) }, { payload: new Uint8Array(100) }]);
    expect(await store.keys()).toHaveLength(2);
  });

  test("also if it is a dead letter, until it is redriven and completed", async () => {
    const { store, queue, operator } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    await (await queue.dequeue())[0]?.reject("no");
    expect(await store.keys()).toHaveLength(1);
    const { tasks } = await operator.list({ state: "rejected", payloads: true });
    expect(tasks[0]?.payload).toEqual(large("a"));
    await operator.redrive({ reason: "rejected" });
    expect((await operator.peek())[0]?.payload).toEqual(large("a"));
    const handled: unknown[] = [];
    await drain(queue, ({ payload }) => void handled.push(payload));
    expect(handled).toEqual([large("a")]);
    expect(await store.keys()).toEqual([]);
  });

  test.each([
    ["completed", { outcome: "complete" }, 0],
    ["rejected without a dead letter", { outcome: "reject", ttl: 0 }, 0],
    ["rejected", { outcome: "reject" }, 1],
    ["rejected with a ttl", { outcome: "reject", ttl: "1d" }, 1],
    ["requeued", { outcome: "requeue" }, 1],
    ["extended", { outcome: "extend" }, 1],
  ] as const)("a task that is %s keeps its object if it keeps its payload", async (_, settlement, kept) => {
    const { store, queue } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    const { tasks } = await queue.settleAndDequeue([]);
    const [{ receipt } = { receipt: "" }] = tasks;
    const { settled } = await queue.settleAndDequeue([{ receipt, ...settlement }]);
    expect(settled[0]?.ok).toBe(true);
    expect(await store.keys()).toHaveLength(kept);
  });

  test("a working task that was cancelled and then fails loses its object; a lost lease removes nothing", async () => {
    const { store, queue } = setUp();
    await queue.enqueueMany(both);
    const tasks = await queue.dequeue({ max: 2, lease: "1s" });
    await queue.cancel("a");
    await tasks[0]?.requeue();
    expect(await store.keys()).toEqual([expect.stringMatching(/\/emails\/b\//)]);
    rig.now += 2_000;
    await rig.sweepOnce();
    const [again] = await queue.dequeue();
    expect(await tasks[1]?.complete()).toMatchObject({ ok: false, code: "lease_lost" });
    expect(await store.keys()).toHaveLength(1);
    await again?.complete();
    expect(await store.keys()).toEqual([]);
  });

  test("a failed removal never fails the settle", async () => {
    const { store, queue } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    const [task] = await queue.dequeue();
    store.before = down;
    expect(await task?.complete()).toMatchObject({ ok: true, state: "completed" });
  });
});

describe("an enqueue", () => {
  test("throws offload_failed if the store is down, and writes no task and leaves no object", async () => {
    const { store, queue } = setUp();
    store.before = (method, at) => {
      if (method === "put" && at.includes("/b/")) down();
    };
    const message =
      /^the object store did not write an object in 4 tries over \d+ ms; the last time: the store is down$/;
    await expect(queue.enqueueMany(both)).rejects.toMatchObject({
      code: "offload_failed",
      message: expect.stringMatching(message) as string,
    });
    expect(await recordsIn()).toEqual(new Map());
    expect(await store.keys()).toEqual([]);
  });

  test("survives a fault of the store that passes", async () => {
    const { store, queue } = setUp();
    let faults = 3;
    store.before = () => {
      if (faults-- > 0) down();
    };
    await queue.enqueue(large("a"), { id: "a" });
    expect(await store.keys()).toHaveLength(1);
  });

  test("of a known id removes the object that it wrote, and no other", async () => {
    const { store, queue } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    const kept = await store.keys();
    expect(await queue.enqueue(large("other"), { id: "a" })).toEqual({ id: "a", created: false });
    expect(await store.keys()).toEqual(kept);
    const dedup = { key: "k", window: "1m" } as const;
    await queue.enqueue(large("b"), { id: "b", dedup });
    expect(await queue.enqueue(large("c"), { id: "c", dedup })).toEqual({ id: "b", created: false });
    expect(await store.keys()).toEqual([...kept, expect.stringMatching(/\/emails\/b\//)]);
  });

  test("that is refused as a whole removes all objects that it wrote", async () => {
    const { store, queue, operator } = setUp();
    await operator.configure({ maxPending: 1 });
    await expect(queue.enqueueMany(both)).rejects.toMatchObject({ code: "queue_full" });
    expect(await store.keys()).toEqual([]);
    expect(await queue.counts()).toMatchObject({ pending: 0 });
  });

  test("of tasks without ids too, although the first request leaves it to a second one to refuse them", async () => {
    const { store, queue, operator, offload } = setUp();
    await operator.configure({ maxPending: 1 });
    // It does not know of the limit yet.
    const producer = producerOf(offload, rig.transport.send);
    const nameless = both.map(({ payload }) => ({ payload }));
    await expect(producer.enqueueMany(nameless)).rejects.toMatchObject({ code: "queue_full" });
    expect(await store.keys()).toEqual([]);
    expect(await queue.counts()).toMatchObject({ pending: 0 });
  });

  test("with an idempotency key is one enqueue each time it comes; the payload is that of the first", async () => {
    const { store, queue } = setUp();
    const first = await queue.enqueue(large("a"), { idempotencyKey: "k1" });
    const stored = (await recordsIn()).get(first.id);
    expect(await queue.enqueue(large("a"), { idempotencyKey: "k1" })).toEqual(first);
    expect((await recordsIn()).get(first.id)).toBe(stored);
    await expect(queue.enqueue(large("b"), { idempotencyKey: "k1" })).rejects.toMatchObject({
      code: "idempotency_key_reused",
    });
    const [task] = await queue.dequeue();
    expect(task?.payload).toEqual(large("a"));
    // The second object is the one that a sweep removes; that of the refused call is gone.
    expect(await store.keys()).toHaveLength(2);
  });

  test("keeps its object if its request was sent more than once: a late copy may still add the task (law 5)", async () => {
    const { store, offload } = setUp();
    await rig.queue().enqueue("small", { id: "a" });
    const producer = producerOf(offload, (commands, options) => {
      options?.onSend?.();
      return rig.transport.send(commands, options);
    });
    expect(await producer.enqueue(large("a"), { id: "a" })).toEqual({ id: "a", created: false });
    expect(await store.keys()).toHaveLength(1);
    // So does one whose transport does not say how often it has sent it.
    const silent = producerOf(offload, (commands) => rig.transport.send(commands));
    await silent.enqueue(large("a"), { id: "a" });
    expect(await store.keys()).toHaveLength(2);
  });

  test("keeps its object if its answer was lost", async () => {
    const { store, offload } = setUp();
    const losing = producerOf(offload, async (commands, options) => {
      const outcomes = await rig.transport.send(commands, options);
      if (!commands.some((command) => "script" in command)) return outcomes;
      throw new SluiceError("redis_unreachable", "the answer was lost");
    });
    const enqueuing = losing.enqueue(large("a"), { id: "a" });
    await expect(enqueuing).rejects.toMatchObject({ code: "redis_unreachable" });
    const [task] = await rig.queue({ offload }).dequeue();
    expect(task?.payload).toEqual(large("a"));
    expect(await store.keys()).toHaveLength(1);
  });

  test("fails if the process was suspended since it wrote the object", async () => {
    const { store, queue } = setUp();
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      store.before = (method) => void (method === "put" && vi.setSystemTime(Date.now() + 600_001));
      await expect(queue.enqueue(large("a"))).rejects.toMatchObject({
        code: "offload_failed",
        message: "the process was suspended after it wrote the payload's object",
      });
    } finally {
      vi.useRealTimers();
    }
    expect(await rig.queue().counts()).toMatchObject({ pending: 0 });
  });

  test("refuses a reference as a payload, which would name the object of another task", async () => {
    const { queue } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    const record = (await recordsIn()).get("a") ?? "";
    const reference = new Uint8Array(Buffer.from(record.slice(record.indexOf("\nb") + 2), "base64"));
    const message = "payload must be the payload, not the reference to its object";
    for (const one of [queue, rig.queue()])
      await expect(one.enqueue(reference)).rejects.toMatchObject({ code: "invalid_argument", message });
  });
});

test("a list leaves out payloads that do not fit into its page", async () => {
  const { queue, operator } = setUp();
  await queue.enqueueMany(["a", "b", "c"].map((id) => ({ payload: large(id), id })));
  const { tasks } = await operator.list({ state: "pending", payloads: true, maxBytes: 500 });
  expect(tasks.map(({ payload }) => payload)).toEqual([large("a"), large("b"), undefined]);
  expect(tasks[2]?.undecryptable).toBe(
    "the payloads of the page would be more than maxBytes; get returns this one",
  );
});

test("a schedule's payload is at most 1 MiB, with or without offload", async () => {
  const { offload } = setUp();
  const schedules = new Schedules(QUEUE, { transport: rig.transport, offload, now: () => rig.now });
  const payload = "x".repeat(1_048_576);
  await expect(schedules.put("s", { every: "1h", payload })).rejects.toMatchObject({ code: "too_large" });
});
