import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { type DefinedQueue, defineQueue, SluiceError, type Task } from "../../src/index.ts";
import { testQueue, testTask, type TestTask } from "../../src/testing/index.ts";
import { awkwardPayloads, comparable } from "../support/payloads.ts";

async function handler({ payload, attempt, signal, extend }: Task<{ to: string }>) {
  await extend("1m", { progress: { percent: 50 } });
  if (signal.aborted) throw signal.reason;
  return `${payload.to} ${attempt}`;
}

test("a task calls a handler without a queue", async () => {
  const task = testTask({ to: "ada" }, { attempt: 3, id: "welcome", group: "tenant-7" });
  expect(task).toMatchObject({ id: "welcome", group: "tenant-7", headers: undefined });
  expect(await handler(task)).toBe("ada 3");
  expect(task.extensions).toEqual([{ lease: "1m", progress: { percent: 50 } }]);
});

test("unknown fields and reasons are refused", () => {
  expect(() => testTask(1, { attemp: 3 } as object)).toThrow(
    "attemp is an unknown option; expected one of id, attempt, enqueuedAt, headers, group, before, queue",
  );
  expect(() => testTask(1).abort("nonsense" as "timeout")).toThrow(
    "reason must be one of cancelled, lease_lost, timeout, budget, requests, aborted",
  );
});

/** What a call returns or throws. */
async function answer(run: () => unknown) {
  try {
    return { value: await run() };
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const { code, message, path, issues } = error;
    return { code, message, path, issues };
  }
}

const dated = z.object({ due: z.iso.datetime().transform((text) => new Date(text)) });

const declared = {
  plain: defineQueue("plain"),
  dated: defineQueue("dated", { schema: dated }),
  "checked asynchronously": defineQueue("asynchronous", {
    schema: z.object({ to: z.string().refine(async (to) => to !== "eve") }),
  }),
};

const payloads: [name: string, payload: unknown][] = [
  ...awkwardPayloads,
  ["nothing", undefined],
  ["a Date", { due: new Date(0) }],
  ["an invalid Date", { due: new Date("soon") }],
  ["a Map", new Map([["a", 1]])],
  ["a Set in an object", { tags: new Set(["a"]) }],
  ["a bigint", { count: 1n }],
  ["a function", () => {}],
  ["a Promise", Promise.resolve(1)],
  ["an infinite number", [Infinity]],
  ["a Buffer", Buffer.from("bytes")],
  ["a Buffer in an object", { file: Buffer.from("bytes") }],
  ["an undefined property", { a: undefined, b: [undefined] }],
  [
    "an instance of a class",
    new (class Mail {
      to = "ada";
    })(),
  ],
  ["an address", { to: "ada" }],
  ["an address that the schema refuses", { to: "eve" }],
  ["1 MiB and a byte", "a".repeat(1_048_575)],
];

describe.each<[name: string, queue: DefinedQueue]>(Object.entries(declared) as [string, DefinedQueue][])(
  "a task of a queue that is %s",
  (_, queue) => {
    test.each(payloads)("has the payload that a delivery has, or the same error: %s", async (__, payload) => {
      const delivered = await answer(async () => {
        const real = testQueue(queue);
        await real.enqueue(payload);
        return comparable((await real.queue.dequeue())[0]?.payload);
      });
      const made = await answer(async () => comparable((await testTask(payload, { queue: queue })).payload));
      expect(made).toStrictEqual(delivered);
      if (queue === declared.plain)
        expect(await answer(() => comparable(testTask(payload).payload))).toStrictEqual(delivered);
    });
  },
);

test.each<[name: string, fields: object]>([
  ["an id", { id: "a b" }],
  ["a group", { group: "" }],
  ["a Headers", { headers: new Headers({ a: "1" }) }],
  ["long headers", { headers: { a: "b".repeat(16_384) } }],
  ["no headers", { headers: {} }],
  ["headers", { headers: { a: "1" }, group: "g;%", id: "a" }],
])("its fields are those of a delivery, or refused as an enqueue refuses them: %s", async (_, fields) => {
  const parts = ({ id, group, headers }: Task) => ({ id, group, headers });
  const delivered = await answer(async () => {
    const queue = testQueue("plain");
    await queue.enqueue(1, { id: "test-1", ...fields });
    let task: Task | undefined;
    await queue.work((given) => void (task = given));
    return task && parts(task);
  });
  expect(await answer(() => parts(testTask(1, fields)))).toStrictEqual(delivered);
});

test.each([undefined, { percent: 50 }, 1n, new Uint8Array(1), "x".repeat(1_023), NaN])(
  "its extend takes progress as that of a delivery: %o",
  async (progress) => {
    const queue = testQueue("plain");
    await queue.enqueue(1);
    const [leased] = await queue.queue.dequeue();
    const ok = async (run: () => Promise<{ ok: boolean }> | undefined) =>
      answer(async () => (await run())?.ok);
    const made = testTask(1);
    expect(await ok(() => made.extend("1m", { progress }))).toEqual(
      await ok(() => leased?.extend("1m", { progress })),
    );
  },
);

test("a schema gives the handler its own type", async () => {
  const task = testTask({ due: "2026-11-28T00:00:00Z" }, { queue: declared.dated, attempt: 2 });
  expectTypeOf(task).toEqualTypeOf<Promise<TestTask<{ due: Date }>>>();
  expect(await task).toMatchObject({ payload: { due: new Date("2026-11-28") }, attempt: 2 });
});

test.each<[path: string, fields: object]>([
  ["attempt", { attempt: 0 }],
  ["attempt", { attempt: "1" }],
  ["enqueuedAt", { enqueuedAt: 1_800_000_000 }],
  ["queue", { queue: "emails" }],
])("refuses an invalid %s: %o", async (path, fields) => {
  expect(await answer(() => testTask(1, fields))).toMatchObject({ code: "invalid_argument", path });
});

test("its signal aborts as that of a drain does", async () => {
  const task = testTask({ to: "ada" });
  task.abort("timeout");
  await expect(handler(task)).rejects.toMatchObject({ name: "StoppedError", code: "timeout" });
});
