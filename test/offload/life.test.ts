import { describe, expect, test } from "vitest";
import { drain, Producer, Schedules, SluiceError } from "../../src/index.ts";
import type { Offload } from "../../src/queue/values/offload.ts";
import { encrypting, MARKER, shows } from "../support/encrypting.ts";
import { awkwardPayloads, comparable } from "../support/payloads.ts";
import { key, QUEUE, START, useRig } from "../support/rig.ts";
import { large, offloading, testStore } from "./rig.ts";

const rig = useRig();
const setUp = (options: Parameters<typeof offloading>[1] = {}) => {
  const store = testStore(START);
  const offload = offloading(store, options);
  return { store, offload, queue: rig.queue({ offload }), operator: rig.operator({ offload }) };
};

const down = () => {
  throw new Error("the store is down");
};
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
    const { offload, queue } = setUp();
    const object = { key: "sluice/emails/a/N", writtenAt: Date.now() - 600_001 };
    expect(() => offload.enqueueing([{ object }])).toThrow(/the process was suspended/);
    expect(offload.enqueueing([{}, {}])).toBeUndefined();
    await queue.enqueue(large("a"));
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

describe("a dequeue", () => {
  test("leaves what does not fit into maxBytes, in its place and without an attempt", async () => {
    const { store, queue } = setUp();
    const ids = ["a", "b", "c", "d", "e"];
    await queue.enqueueMany(ids.map((id) => ({ payload: large(id), id })));
    const first = await queue.dequeue({ max: 4, maxBytes: 500 });
    expect([first.map(({ id }) => id), first.nextDueAt]).toEqual([["a", "b"], START]);
    expect(store.requests.filter((request) => request.startsWith("get"))).toHaveLength(2);
    expect(await queue.get("c")).toMatchObject({ state: "pending", charged: 0 });
    const rest = await queue.dequeue({ max: 10 });
    expect(rest.map(({ id, payload }) => [id, payload])).toEqual(
      ["c", "d", "e"].map((id) => [id, large(id)]),
    );
    // One task is returned even if it is larger.
    await queue.enqueue(large("f"), { id: "f" });
    expect((await queue.dequeue({ max: 10, maxBytes: 1 })).map(({ id }) => id)).toEqual(["f"]);
  });

  test("hands tasks back uncharged, with the error, if the store is down, and throws if there is no other", async () => {
    const { store, queue } = setUp();
    await queue.enqueueMany(["a", "b"].map((id) => ({ payload: large(id), id, maxAttempts: 1 })));
    store.before = down;
    await expect(queue.dequeue({ max: 10 })).rejects.toMatchObject({ code: "offload_failed" });
    const error = { name: "SluiceError", message: expect.stringContaining("the store is down") as string };
    const handedBack = { state: "delayed", charged: 0, dueAt: START + 30_000, error };
    for (const id of ["a", "b"]) expect(await queue.get(id)).toMatchObject(handedBack);
    // With another task it returns that one, and when the failed ones are due.
    rig.now += 30_000;
    await queue.enqueue("small", { id: "c" });
    const others = await queue.dequeue({ max: 10 });
    expect([others.map(({ id }) => id), others.nextDueAt]).toEqual([["c"], rig.now + 30_000]);
    store.before = () => {};
    rig.now += 30_000;
    const tasks = await queue.dequeue({ max: 10 });
    expect(tasks.map(({ payload }) => payload)).toEqual([large("a"), large("b")]);
  });

  describe("of objects that take longer than the lease", () => {
    const ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const slow = async (seconds: number) => {
      const { store, queue } = setUp();
      await queue.enqueueMany(ids.map((id) => ({ payload: large(id), id, maxAttempts: 2 })));
      await queue.enqueue("small", { id: "i" });
      let gets = 0;
      store.before = (method) => {
        if (method === "get" && ++gets === 6) rig.now += seconds * 1_000;
      };
      return { store, queue };
    };

    test.each([6, 11])(
      "of 10 s by %i s, extends the leases of those that were read, and hands the others back to their place",
      async (seconds) => {
        const { queue } = await slow(seconds);
        const tasks = await queue.dequeue({ max: 10, lease: "10s" });
        expect(tasks.map(({ id, payload, deadlineAt }) => [id, payload, deadlineAt - rig.now])).toEqual(
          ids.slice(0, 6).map((id) => [id, large(id), 10_000]),
        );
        expect(tasks.nextDueAt).toBe(rig.now - seconds * 1_000);
        const left = ["g", "h", "i"];
        for (const id of left)
          expect(await queue.get(id)).toMatchObject({ state: "pending", attempt: 1, charged: 0 });
        rig.now += 9_000;
        expect((await queue.dequeue({ max: 10, lease: "1m" })).map(({ id }) => id)).toEqual(left);
        for (const task of tasks) expect(await task.complete()).toMatchObject({ ok: true });
      },
    );

    test("extends no lease if they take less than half of it", async () => {
      const { queue } = await slow(5);
      const tasks = await queue.dequeue({ max: 10, lease: "10s" });
      expect(tasks.map(({ id, deadlineAt }) => [id, deadlineAt - rig.now])).toEqual(
        [...ids, "i"].map((id) => [id, 5_000]),
      );
    });

    test("returns no task whose lease was lost meanwhile: no handler starts with it", async () => {
      const { store, queue } = await slow(11);
      const { before } = store;
      let others: { id: string }[] = [];
      store.before = async (method, at) => {
        await before(method, at);
        if (rig.now === START || others.length > 0) return;
        others = [{ id: "" }];
        // The deadline has passed: another consumer gets the first task.
        others = await rig.queue({ offload: offloading(store) }).dequeue();
      };
      const handled: string[] = [];
      const report = await drain(queue, ({ id }) => void handled.push(id), { lease: "10s", batch: 10 });
      expect(others.map(({ id }) => id)).toEqual(["a"]);
      expect(handled.toSorted()).toEqual([...ids.slice(1), "i"]);
      expect(report).toMatchObject({ completed: 8, lost: 0 });
    });

    test("throws if the leases cannot be extended", async () => {
      const { store } = await slow(6);
      const send: Send = (commands, options) => {
        if (rig.now === START) return rig.transport.send(commands, options);
        throw new SluiceError("redis_unreachable", "Redis is down");
      };
      const queue = rig.queue({ offload: offloading(store), transport: { send } });
      await expect(queue.dequeue({ max: 10, lease: "10s" })).rejects.toMatchObject({
        code: "redis_unreachable",
      });
      rig.now += 5_000;
      const next = rig.queue({ offload: offloading(store) });
      expect([...(await next.dequeue())]).toMatchObject([{ id: "a", attempt: 2, payload: large("a") }]);
      expect(await next.counts()).toMatchObject({ pending: 8, working: 1 });
    });
  });

  type Harm = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> | undefined;
  test.each<[string, Harm, RegExp]>([
    ["is missing", () => undefined, /^the object of the payload is missing in the object store$/],
    ["is damaged", (bytes) => bytes.with(0, bytes[0]! ^ 1), /^the object of the payload is damaged: /],
    ["is cut off", (bytes) => bytes.slice(0, -1), /^the object of the payload is damaged: /],
  ])(
    "makes a task whose object %s a dead letter that says why, and harms no other",
    async (_, harm, message) => {
      const { store, queue } = setUp();
      await queue.enqueueMany(["a", "b", "c"].map((id) => ({ payload: large(id), id })));
      const at = (await store.keys()).find((name) => name.includes("/b/")) ?? "";
      const harmed = harm(new Uint8Array((await store.get(at, {})) ?? []));
      if (harmed) await store.put(at, harmed, { sha256: harmed });
      else await store.delete([at], {});
      const tasks = await queue.dequeue({ max: 10 });
      expect(tasks.map(({ id, payload }) => [id, payload])).toEqual(["a", "c"].map((id) => [id, large(id)]));
      expect(tasks.invalid).toBe(1);
      expect(await queue.get("b")).toMatchObject({
        state: "rejected",
        reason: "rejected",
        error: { name: "SluiceError", message: expect.stringMatching(message) as string },
      });
      await expect(queue.get("b", { payload: true })).rejects.toMatchObject({ code: "offload_failed" });
    },
  );

  test("without offload makes a dead letter that says why; with it the dead letter can be redriven", async () => {
    const { store, queue, operator } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    for (const encryption of [undefined, null, encrypting({ acceptPlain: true })]) {
      const plain = rig.queue({ encryption });
      expect(await plain.dequeue()).toMatchObject({ length: 0, invalid: 1 });
      const message = "the payload is in an object store, and this queue has no offload to read it";
      expect(await plain.get("a")).toMatchObject({ state: "rejected", error: { message } });
      await expect(plain.get("a", { payload: true })).rejects.toEqual(
        new SluiceError("offload_failed", message),
      );
      const listed = await rig.operator({ encryption }).list({ state: "rejected", payloads: true });
      expect(listed.tasks).toMatchObject([{ id: "a", undecryptable: message }]);
      expect(listed.tasks[0]).not.toHaveProperty("payload");
      await operator.redrive({ reason: "rejected" });
    }
    const [task] = await queue.dequeue();
    expect(task?.payload).toEqual(large("a"));
    expect(await store.keys()).toHaveLength(1);
  });

  test("of a damaged reference is a dead letter too, and no path leads out of the task's objects", async () => {
    const { store, queue } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    const record = (await recordsIn()).get("a") ?? "";
    const at = record.indexOf("\nb") + 2;
    const reference = Buffer.from(record.slice(at), "base64");
    const path = Buffer.from("../../../emails/b/N_____________");
    const forged = Buffer.concat([reference.subarray(0, 44), path]);
    await rig.command("HSET", key("tasks"), "a", record.slice(0, at) + forged.toString("base64"));
    const before = store.requests.length;
    expect(await queue.dequeue()).toMatchObject({ length: 0, invalid: 1 });
    expect(store.requests).toHaveLength(before);
    expect(await queue.get("a")).toMatchObject({
      error: { message: "the reference to the payload's object is damaged" },
    });
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
