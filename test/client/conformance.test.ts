import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Settlement } from "../../src/index.ts";
import { INVALID } from "../proofs/model/invalid.ts";
import { awkwardPayloads } from "../support/payloads.ts";
import { loose } from "../support/refusing.ts";
import { day } from "./day.ts";
import { useServer, type Either } from "./rig.ts";

const server = useServer();

/** Every answer, errors included. */
async function each(...calls: (() => unknown)[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const call of calls) {
    const answer = Promise.resolve().then(call);
    answers.push(await answer.catch((error: unknown) => error));
  }
  return answers;
}

const strayReceipt = "1.1.999.abcdefgh.a";

const scenarios: Record<string, (queue: Either) => Promise<unknown>> = {
  "every call, most of them with an effect": day,
  "enqueue: refuses seconds, headers that are no texts by name, and what JSON would drop": (queue) =>
    each(
      () => queue.enqueue(1, { at: 1_800_000_000 }),
      () => queue.enqueue(1, { at: new Date(1_800_000_000) }),
      () => queue.enqueueMany([{ payload: 1, at: new Date("soon") }]),
      () => queue.enqueue(1, { headers: loose(new Headers({ a: "1" })) }),
      () => queue.enqueueMany([{ payload: 1, headers: loose(new Map([["a", "1"]])) }]),
      () => queue.enqueue(1, { headers: loose(["a"]) }),
      () => queue.enqueue({ due: new Date("soon") }),
      () => queue.enqueue(1, { headers: loose({ a: 1 }) }),
      () => queue.enqueueMany([{ payload: 1 }, { payload: 1, headers: { "": "no name" } }]),
      () => queue.enqueueMany([{ payload: 1 }, { payload: 1, at: 2 ** 52 }]),
      () => queue.enqueueMany([{ payload: 1 }, { payload: 1, at: loose("soon") }]),
      () => queue.enqueueMany([{ payload: 1 }, { payload: { counts: new Map([["a", 1]]) } }]),
      () => queue.enqueueMany([{ payload: 1 }, { payload: new Float32Array(2) }]),
      () => queue.enqueue({ none: null, due: new Date(0) }, { id: "a", at: 0 }),
      () => queue.counts(),
    ),
  "with keys and tokens of the caller: the same tasks again": (queue) =>
    each(
      () => queue.enqueue(8, { idempotencyKey: "once" }),
      () => queue.enqueue(8, { idempotencyKey: "once" }),
      () => queue.enqueueMany([{ payload: null }, { payload: 0, group: "g" }], { idempotencyKey: "k" }),
      () => queue.enqueueMany([{ payload: null }, { payload: 0, group: "g" }], { idempotencyKey: "k" }),
      () => queue.dequeue({ max: 2, token: "token-of-mine", maxBytes: 1_000 }),
      () => queue.dequeue({ max: 2, token: "token-of-mine" }),
      () => queue.dequeue({ idempotencyKey: "d" }),
      () => queue.dequeue({ idempotencyKey: "d" }),
      () => queue.counts(),
    ),
  "settle: every outcome, values and refusals": async (queue) => {
    await queue.enqueueMany("abcdefghij".split("").map((id) => ({ id, payload: id })));
    const tasks = await queue.dequeue({ max: 10 });
    const settlements: Settlement[] = [
      { receipt: "", outcome: "complete" },
      { receipt: "", outcome: "complete", result: false, ttl: "1d" },
      { receipt: "", outcome: "complete", result: Uint8Array.of(0, 255) },
      { receipt: "", outcome: "reject", error: new TypeError("not so") },
      { receipt: "", outcome: "reject", error: Uint8Array.of(1), ttl: 0 },
      { receipt: "", outcome: "requeue", error: "later", delay: "1h", count: false },
      { receipt: "", outcome: "requeue", backoff: (attempt) => attempt * 7_200_000 },
      { receipt: "", outcome: "requeue", unstarted: true },
      { receipt: "", outcome: "extend", lease: "2h", progress: { done: "½;%3B", of: 0 } },
      { receipt: "", outcome: "extend" },
    ];
    const mixed = settlements.map((one, i) => ({ ...one, receipt: tasks[i]?.receipt ?? "" }));
    return each(
      () => queue.settle([]),
      () => queue.settle(mixed),
      () => queue.get("i"),
      () => queue.settle(mixed.slice(0, 2)),
      () => queue.settle([{ receipt: strayReceipt, outcome: "complete" }]),
      () => tasks[8]?.extend("3h", { progress: null }),
      () => tasks[8]?.complete(0),
      () => tasks[8]?.reject("too late"),
      ..."abcdefghij".split("").map((id) => () => queue.get(id)),
      () => queue.counts(),
    );
  },
  "cancel: at once, for its holder, and every refusal": async (queue) => {
    await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload: id })));
    const [a] = await queue.dequeue();
    return each(
      () => queue.cancel("a", { lease: 9 }),
      () => queue.cancel("a"),
      () => a?.extend(),
      () => queue.get("a"),
      () => a?.complete(),
      () => queue.cancel("a"),
      () => queue.cancel("b", { lease: 0, idempotencyKey: "k" }),
      () => queue.cancel("missing"),
      () => queue.get("b"),
    );
  },
  "get, wait and watch: a task, and none": async (queue) => {
    await queue.enqueue("x", { id: "we/ird?#%2F id".replaceAll(" ", "_") });
    const id = "we/ird?#%2F_id";
    const [task] = await queue.dequeue();
    const watched = async () => {
      const events: unknown[] = [];
      for await (const event of queue.watch(id, { every: 10 })) events.push(event);
      return events;
    };
    return each(
      () => queue.get("missing"),
      () => queue.wait("missing"),
      () => queue.wait(id, { for: 0 }),
      () => task?.complete("done"),
      () => queue.wait(id, { for: "1m", every: 10 }),
      watched,
    );
  },
  "input that is refused, and its path": (queue) =>
    each(
      ...INVALID.map(
        ([, call]) =>
          () =>
            call(loose(queue), server.operator("emails")),
      ),
      () => queue.enqueue(10n),
      () => queue.enqueue(1, { delay: "1s", at: 5 }),
      () => queue.enqueue(1, { id: "a", again: true, unique: "24h" }),
      () => queue.enqueue(1, loose({ dely: 5 })),
      () => queue.enqueue(1, { idempotencyKey: "two words" }),
      () => queue.enqueue(1, loose(null)),
      () => queue.enqueue("x".repeat(1_048_577)),
      () => queue.enqueue(new Uint8Array(1_048_577)),
      () => queue.enqueueMany(loose("no list")),
      () => queue.enqueueMany(loose([{ payload: 1 }, null])),
      () => queue.enqueueMany([{ payload: 1 }, { payload: 1, delay: -1 }]),
      () => queue.enqueueMany([{ payload: 1 }, { payload: loose(() => 1) }]),
      () => queue.enqueueMany(Array.from({ length: 1_001 }, () => ({ payload: 1 }))),
      () => queue.dequeue({ worker: loose({ name: "w", silentafter: 1 }) }),
      () => queue.dequeue(loose(null)),
      () => queue.settle([loose(null)]),
      () => queue.settle([{ receipt: strayReceipt, outcome: "complete", result: 1n }]),
      () => queue.settle([{ receipt: strayReceipt, outcome: "reject", error: { e: "x".repeat(16_384) } }]),
      () => queue.settle([{ receipt: strayReceipt, outcome: "extend", progress: "x".repeat(1_024) }]),
      () => queue.settle([{ receipt: strayReceipt, outcome: "extend", progress: Uint8Array.of(1) }]),
      () => queue.settle([{ receipt: strayReceipt, outcome: "requeue", delay: 1, backoff: true }]),
      () => queue.settle([{ receipt: strayReceipt, outcome: "requeue", backoff: () => loose("never") }]),
      () => queue.settle([{ receipt: strayReceipt, outcome: "requeue", unstarted: true, error: 1 }]),
      () => queue.settleAndDequeue([{ receipt: strayReceipt, outcome: "complete" }], { max: 0 }),
      () => queue.get(""),
      () => queue.get("a", loose({ payload: "yes" })),
      () => queue.get("a", loose({ paylod: true })),
      () => queue.wait("a", { every: 1 }),
      () => queue.heartbeat(loose(undefined)),
      () => queue.counts(),
    ),
  "an abort": async (queue) => {
    const signal = AbortSignal.abort();
    return each(
      () => queue.enqueue(1, { signal }),
      () => queue.dequeue({ signal }),
      () => queue.get("a", { signal }),
      () => queue.wait("a", { signal }),
      () => queue.counts(),
    );
  },
};

describe("a client's queue answers as a queue does", () => {
  test.each(Object.entries(scenarios))("%s", async (_, calls) => {
    const { direct, overHttp } = await server.both(calls);
    expect(overHttp).toStrictEqual(direct);
  });

  test("the queue's options apply to its tasks and dequeues", async () => {
    const times = { lease: "1h", resultTtl: 0, deadTtl: 0, delay: "30s" } as const;
    const options = { ...times, maxAttempts: 1, maxBytes: 10 };
    const { direct, overHttp } = await server.both(async (queue) => {
      await queue.enqueueMany([
        { id: "delayed", payload: 1 },
        { id: "now", payload: "twenty characters", at: 0 },
        { id: "too", payload: "twenty characters", delay: 0, maxAttempts: 3, lease: undefined },
      ]);
      const tasks = await queue.dequeue({ max: 5, lease: undefined, maxBytes: undefined });
      const { enqueuedAt = 0, dueAt = 0 } = (await queue.get("delayed")) ?? {};
      return [
        tasks,
        tasks.map((task) => task.deadlineAt - task.enqueuedAt > 3_000_000),
        dueAt - enqueuedAt,
        await tasks[0]?.requeue(),
        await queue.get("now"),
        await queue.counts(),
      ];
    }, options);
    expect(overHttp).toStrictEqual(direct);
  });
});

test("the queue's lease is that of its dequeues, unless a task fixes its own", async () => {
  const lasting = async (queue: Either) => {
    await server.direct("emails").enqueueMany([{ payload: 1 }, { payload: 2, lease: "3h" }]);
    const tasks = [...(await queue.dequeue()), ...(await queue.dequeue({ lease: "2h" }))];
    const settlements = [{ receipt: tasks[0]?.receipt ?? "", outcome: "requeue" as const }];
    const { tasks: rest } = await queue.settleAndDequeue(settlements);
    return [...tasks, ...rest].map(({ leasedFor }) => leasedFor / 3_600_000);
  };
  const both = await server.both(lasting, { lease: "1h" });
  expect(both).toEqual({ direct: [1, 3, 1], overHttp: [1, 3, 1] });
});

test("with a schema, payloads that do not fit are neither enqueued nor delivered", async () => {
  const schema = z.object({ to: z.string(), at: z.coerce.number().transform((at) => new Date(at)) });
  const misfits = ["x", null, { to: 5 }].map((payload, i) => ({ id: `misfit-${i}`, payload }));
  const { direct, overHttp } = await server.both(
    async (queue) => {
      await server.direct("emails").enqueueMany([...misfits, { id: "fits", payload: { to: "a", at: "7" } }]);
      return each(
        () => queue.enqueue({ to: 5 }),
        () => queue.enqueueMany([{ payload: { to: "b", at: 1 } }, { payload: {} }]),
        // A whole batch that does not fit, then one with a task that does.
        () => queue.dequeue({ max: 2, token: "token-of-mine" }),
        () => queue.settleAndDequeue([{ receipt: strayReceipt, outcome: "complete" }], { max: 5 }),
        () => Promise.all(misfits.map(({ id }) => queue.get(id))),
        () => queue.counts(),
      );
    },
    { schema },
  );
  expect(overHttp).toStrictEqual(direct);
  expect(direct).toMatchObject([
    { threw: "invalid_argument", path: "payload.to" },
    { threw: "invalid_argument", path: "tasks[1].payload.to" },
    { tasks: [{ id: "fits", payload: { to: "a", at: { date: 7 } } }] },
    { settled: [{ ok: false, code: "lease_lost" }], tasks: { tasks: [] } },
    misfits.map(({ id }) => ({ id, state: "rejected", error: { name: "SchemaError" } })),
    { pending: 0, rejected: 3, working: 1 },
  ]);
});

test.each(awkwardPayloads)(
  "every payload comes back as it was, as a result and an error too: %s",
  async (label, payload) => {
    const { direct, overHttp } = await server.both(async (queue) => {
      await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload })));
      const tasks = await queue.dequeue({ max: 2 });
      await tasks[0]?.complete(payload);
      if (!label.startsWith("1 M")) await tasks[1]?.reject(payload);
      return [tasks, await queue.get("a"), await queue.get("b")];
    });
    expect(overHttp).toStrictEqual(direct);
  },
);

test("a thrown error is kept with its name and message, also if it has properties of its own", async () => {
  const { direct, overHttp } = await server.both(async (queue) => {
    await queue.enqueue(1, { id: "a" });
    const [task] = await queue.dequeue();
    await task?.requeue({ error: Object.assign(new RangeError("too far"), { code: "ERANGE" }) });
    return (await queue.get("a"))?.error;
  });
  expect(direct).toEqual({ name: "RangeError", message: "too far" });
  expect(overHttp).toStrictEqual(direct);
});

test("a thrown error is kept, cut to the limit, whatever its characters", async () => {
  const words = "因".repeat(10_000);
  const thrown = [new Error(words, { cause: new Error(words) }), "\u0001".repeat(10_000)];
  const { direct, overHttp } = await server.both(async (queue) => {
    await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload: 1 })));
    const tasks = await queue.dequeue({ max: 2 });
    for (const [i, task] of tasks.entries()) await task.reject(thrown[i]);
    return [(await queue.get("a"))?.error, (await queue.get("b"))?.error];
  });
  expect(overHttp).toStrictEqual(direct);
  const [error, text] = direct as [Error & { cause: string }, string];
  expect(error).toStrictEqual({
    name: "Error",
    message: expect.stringMatching(/^因{999,}…$/) as string,
    cause: expect.stringMatching(/^因{999,}…$/) as string,
  });
  expect(text.replaceAll("\u0001", "x")).toMatch(/^x{999,}…$/);
});
