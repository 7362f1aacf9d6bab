import { describe, expect, test } from "vitest";
import { listQueues, Queue, SluiceError, sweep } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();

function itself(): unknown {
  const payload = { list: [] as unknown[] };
  payload.list.push(payload);
  return payload;
}

describe("bad input is named in the error and writes nothing", () => {
  const cases: [name: string, run: () => Promise<unknown>, code: string, path: string][] = [
    ["id with a space", () => rig.queue().enqueue(1, { id: "a b" }), "invalid_argument", "id"],
    ["id that begins like a record", () => rig.queue().enqueue(1, { id: ".a" }), "invalid_argument", "id"],
    [
      "id that begins like a control field",
      () => rig.queue().enqueue(1, { id: "~lease" }),
      "invalid_argument",
      "id",
    ],
    ["id that is too long", () => rig.queue().enqueue(1, { id: "a".repeat(129) }), "invalid_argument", "id"],
    ["negative delay", () => rig.queue().enqueue(1, { delay: -1 }), "invalid_argument", "delay"],
    ["delay in weeks", () => rig.queue().enqueue(1, { delay: "2w" as never }), "invalid_argument", "delay"],
    ["delay and at", () => rig.queue().enqueue(1, { delay: 1, at: 1 }), "invalid_argument", "at"],
    ["lease of 0", () => rig.queue().enqueue(1, { lease: 0 }), "invalid_argument", "lease"],
    [
      "attempts by half",
      () => rig.queue().enqueue(1, { maxAttempts: 1.5 }),
      "invalid_argument",
      "maxAttempts",
    ],
    ["undefined payload", () => rig.queue().enqueue(undefined), "invalid_argument", "payload"],
    [
      "a bigint in a payload",
      () => rig.queue().enqueue({ items: [{ price: 1 }, { price: 2n }] }),
      "invalid_argument",
      "payload.items[1].price",
    ],
    [
      "a Map in a payload",
      () => rig.queue().enqueueMany([{ payload: { tags: new Map([["a", 1]]) } }]),
      "invalid_argument",
      "tasks[0].payload.tags",
    ],
    [
      "bytes in a payload, which JSON would write as an object",
      () => rig.queue().enqueue({ files: [{ name: "a", content: new Uint8Array([1, 2]) }] }),
      "invalid_argument",
      "payload.files[0].content",
    ],
    [
      "the bytes of a Buffer in a payload",
      () => rig.queue().enqueue({ file: Buffer.from("hello") }),
      "invalid_argument",
      "payload.file",
    ],
    [
      "a list of numbers that JSON would write as an object",
      () => rig.queue().enqueue(new Float32Array(2)),
      "invalid_argument",
      "payload",
    ],
    ["a Promise as payload", () => rig.queue().enqueue(Promise.resolve(1)), "invalid_argument", "payload"],
    [
      "a payload that contains itself",
      () => rig.queue().enqueue(itself()),
      "invalid_argument",
      "payload.list[0]",
    ],
    ["an invalid Date", () => rig.queue().enqueue(1, { at: new Date("soon") }), "invalid_argument", "at"],
    ["seconds as an instant", () => rig.queue().enqueue(1, { at: 1_800_000_000 }), "invalid_argument", "at"],
    [
      "seconds as a Date",
      () => rig.queue().enqueueMany([{ payload: 1, at: new Date(1_800_000_000) }]),
      "invalid_argument",
      "tasks[0].at",
    ],
    [
      "an invalid Date in a payload, which JSON would write as null",
      () => rig.queue().enqueue({ list: [null, { due: new Date("soon") }] }),
      "invalid_argument",
      "payload.list[1].due",
    ],
    ["payload over 1 MiB", () => rig.queue().enqueue("a".repeat(1_048_575)), "too_large", "payload"],
    [
      "payload over 1 MiB in bytes, not in characters",
      () => rig.queue().enqueue("€".repeat(349_525)),
      "too_large",
      "payload",
    ],
    ["bytes over 1 MiB", () => rig.queue().enqueue(new Uint8Array(1_048_577)), "too_large", "payload"],
    [
      "header that is a number",
      () => rig.queue().enqueue(1, { headers: { a: 1 as unknown as string } }),
      "invalid_argument",
      "headers",
    ],
    [
      "the headers of a request",
      () => rig.queue().enqueue(1, { headers: new Headers({ a: "1" }) as never }),
      "invalid_argument",
      "headers",
    ],
    [
      "a Map as headers",
      () => rig.queue().enqueueMany([{ payload: 1, headers: new Map([["a", "1"]]) as never }]),
      "invalid_argument",
      "tasks[0].headers",
    ],
    [
      "headers in a list",
      () => rig.queue().enqueue(1, { headers: ["a"] as never }),
      "invalid_argument",
      "headers",
    ],
    [
      "headers over 16 KiB",
      () => rig.queue().enqueue(1, { headers: { a: "b".repeat(16_384) } }),
      "too_large",
      "headers",
    ],
    [
      "second task of a batch",
      () => rig.queue().enqueueMany([{ payload: 1 }, { payload: 2, delay: "x" as never }]),
      "invalid_argument",
      "tasks[1].delay",
    ],
    [
      "1,001 tasks",
      () => rig.queue().enqueueMany(Array.from({ length: 1_001 }, () => ({ payload: 1 }))),
      "invalid_argument",
      "tasks",
    ],
    [
      "more than a request takes",
      () => rig.queue().enqueueMany(Array.from({ length: 11 }, () => ({ payload: "a".repeat(1_000_000) }))),
      "too_large",
      "tasks",
    ],
    [
      "more bytes than a request takes, but fewer characters",
      () => rig.queue().enqueueMany(Array.from({ length: 11 }, () => ({ payload: "€".repeat(300_000) }))),
      "too_large",
      "tasks",
    ],
  ];
  test.each(cases)("%s", async (_, run, code, path) => {
    const error = await run().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SluiceError);
    expect(error).toMatchObject({ code, path });
    expect(await rig.keySpace()).toEqual({});
  });

  test("instants that cannot be in seconds are taken", async () => {
    const at = [0, 1, 999_999_999, 10_000_000_000, new Date(0), new Date("1994-08-01")];
    expect(await rig.queue().enqueueMany(at.map((instant) => ({ payload: 1, at: instant })))).toHaveLength(6);
  });

  test.each(["", ".a", "a b", "a/b", "a{b}", "a:b", "ü", "a".repeat(129)])("queue name %j", (name) => {
    expect(() => new Queue(name, { transport: rig.transport })).toThrow(/queue must be 1 to 128 of/);
  });

  test.each<[string, () => unknown]>([
    ["a queue without options", () => new Queue("a", undefined as never)],
    ["a queue without a transport", () => new Queue("a", {} as never)],
    ["a sweep without a transport", () => sweep(undefined as never)],
    ["a sweep of a queue", () => sweep(rig.queue() as never)],
    ["a list of queues without a transport", () => listQueues({} as never)],
  ])("%s", async (_, run) => {
    await expect((async () => run())()).rejects.toMatchObject({
      code: "invalid_argument",
      path: "transport",
    });
  });

  test("a task instead of a list of tasks", async () => {
    await expect(rig.queue().enqueueMany({ payload: 1 } as never)).rejects.toMatchObject({ path: "tasks" });
    await expect(rig.queue().settle({} as never)).rejects.toMatchObject({ path: "settlements" });
  });

  test("an empty batch sends nothing to Redis", async () => {
    expect(await rig.queue().enqueueMany([])).toEqual([]);
    expect(await rig.keySpace()).toEqual({});
  });
});
