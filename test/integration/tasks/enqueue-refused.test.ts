import { describe, expect, test } from "vitest";
import {
  type EnqueueOptions,
  listQueues,
  type NewTask,
  Queue,
  SluiceError,
  sweep,
} from "../../../src/index.ts";
import { many } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();

function itself(): unknown {
  const payload = { list: [] as unknown[] };
  payload.list.push(payload);
  return payload;
}

describe("bad input is named in the error and writes nothing", () => {
  async function expectRefused(call: Promise<unknown>, path: string) {
    const error = await call.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SluiceError);
    expect(error).toMatchObject({ code: "invalid_argument", path });
    expect(await rig.keySpace()).toEqual({});
  }

  test.each<[what: string, options: object, path: keyof EnqueueOptions]>([
    ["id with a space", { id: "a b" }, "id"],
    ["id that begins like a record", { id: ".a" }, "id"],
    ["id that begins like a control field", { id: "~lease" }, "id"],
    ["id that is too long", { id: "a".repeat(129) }, "id"],
    ["negative delay", { delay: -1 }, "delay"],
    ["delay in weeks", { delay: "2w" }, "delay"],
    ["delay and at", { delay: 1, at: 1 }, "at"],
    ["an invalid Date", { at: new Date("soon") }, "at"],
    ["seconds as an instant", { at: 1_800_000_000 }, "at"],
    ["seconds as a Date", { at: new Date(1_800_000_000) }, "at"],
    ["lease of 0", { lease: 0 }, "lease"],
    ["attempts by half", { maxAttempts: 1.5 }, "maxAttempts"],
    ["header that is a number", { headers: { a: 1 } }, "headers"],
    ["the headers of a request", { headers: new Headers({ a: "1" }) }, "headers"],
    ["a Map as headers", { headers: new Map([["a", "1"]]) }, "headers"],
    ["headers in a list", { headers: ["a"] }, "headers"],
  ])("%s, alone and in a batch", async (_, options, path) => {
    await expectRefused(rig.queue().enqueue(1, options), path);
    await expectRefused(
      rig.queue().enqueueMany([{ payload: 1 }, { payload: 2, ...options }]),
      `tasks[1].${path}`,
    );
  });

  test.each<[what: string, payload: unknown, path: string]>([
    ["undefined", undefined, ""],
    ["a bigint", { items: [{ price: 1 }, { price: 2n }] }, ".items[1].price"],
    ["a Map", { tags: new Map([["a", 1]]) }, ".tags"],
    ["bytes, which JSON would write as an object", { files: [{ a: new Uint8Array([1, 2]) }] }, ".files[0].a"],
    ["the bytes of a Buffer", { file: Buffer.from("hello") }, ".file"],
    ["a list of numbers that JSON would write as an object", new Float32Array(2), ""],
    ["a Promise", Promise.resolve(1), ""],
    ["one that contains itself", itself(), ".list[0]"],
    ["an invalid Date, which JSON would write as null", [null, { due: new Date("soon") }], "[1].due"],
  ])("a payload: %s, alone and in a batch", async (_, payload, path) => {
    await expectRefused(rig.queue().enqueue(payload), `payload${path}`);
    await expectRefused(rig.queue().enqueueMany([{ payload }]), `tasks[0].payload${path}`);
  });

  const large = (letter: string, length: number): NewTask<unknown>[] =>
    Array.from({ length: 11 }, () => ({ payload: letter.repeat(length) }));
  test.each<[what: string, tasks: NewTask<unknown>[], path: string]>([
    ["payload over 1 MiB", [{ payload: "a".repeat(1_048_575) }], "tasks[0].payload"],
    [
      "payload over 1 MiB in bytes, not in characters",
      [{ payload: "€".repeat(349_525) }],
      "tasks[0].payload",
    ],
    ["bytes over 1 MiB", [{ payload: new Uint8Array(1_048_577) }], "tasks[0].payload"],
    ["headers over 16 KiB", [{ payload: 1, headers: { a: "b".repeat(16_384) } }], "tasks[0].headers"],
    ["more than a request takes", large("a", 1_000_000), "tasks"],
    ["more bytes than a request takes, but fewer characters", large("€", 300_000), "tasks"],
  ])("%s", async (_, tasks, path) => {
    await expect(rig.queue().enqueueMany(tasks)).rejects.toMatchObject({ code: "too_large", path });
    expect(await rig.keySpace()).toEqual({});
  });

  test("1,001 tasks, and a task instead of a list of tasks", async () => {
    await expectRefused(rig.queue().enqueueMany(many(1_001)), "tasks");
    await expectRefused(rig.queue().enqueueMany({ payload: 1 } as never), "tasks");
    await expectRefused(rig.queue().settle({} as never), "settlements");
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
    await expectRefused((async () => run())(), "transport");
  });
});
