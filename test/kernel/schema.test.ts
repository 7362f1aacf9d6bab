import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { Queue } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";
import { many } from "../support/new-tasks.ts";

const rig = useRig();

/** The same schema by three libraries. */
const schemas = {
  zod: z.object({ to: z.email(), times: z.number().default(1) }),
  valibot: v.object({ to: v.pipe(v.string(), v.email()), times: v.optional(v.number(), 1) }),
  arktype: type({ to: "string.email", times: "number = 1" }),
};

describe.each(Object.entries(schemas))("a queue with a schema of %s", (_, schema) => {
  const queue = () => rig.queue({ schema });

  test("refuses a payload that does not fit, with its path and the words of the schema, and writes nothing", async () => {
    const before = await rig.keySpace();
    await expect(queue().enqueue({ to: "secret" })).rejects.toMatchObject({
      code: "invalid_argument",
      path: "payload.to",
      message: expect.stringMatching(/^payload\.to must match the schema of the queue: \S/),
      issues: [{ path: "to", message: expect.stringMatching(/\S/) }],
    });
    await expect(
      queue().enqueueMany([{ payload: { to: "a@example.com" } }, { payload: { to: "b" } }]),
    ).rejects.toMatchObject({ path: "tasks[1].payload.to" });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("delivers what the schema makes of a payload, and rejects what does not fit, at the first attempt", async () => {
    await rig.queue().enqueue({ to: 7 }, { id: "bad" });
    await queue().enqueue({ to: "a@example.com" }, { id: "good" });
    expect((await rig.space()).tasks.get("good")).toMatch(/\nj\{"to":"a@example.com"\}$/);
    const tasks = await queue().dequeue({ max: 10 });
    expect([tasks.map(({ payload }) => payload), tasks.invalid]).toEqual([
      [{ to: "a@example.com", times: 1 }],
      1,
    ]);
    expect(await queue().get("bad")).toMatchObject({
      state: "rejected",
      reason: "rejected",
      attempt: 1,
      error: {
        name: "SchemaError",
        message: "payload.to must match the schema of the queue",
        issues: [{ path: "to", message: expect.any(String) }],
      },
    });
    expect((await queue().counts()).rejected).toBe(1);
  });
});

describe("a payload that does not fit the schema", () => {
  const queue = () => rig.queue({ schema: z.string() });

  test("does not hide the tasks behind it, also if there are several", async () => {
    await rig.queue().enqueueMany([...many(7), { payload: "fits" }]);
    expect([...(await queue().dequeue({ max: 3 }))]).toMatchObject([{ payload: "fits" }]);
    expect(await queue().dequeue({ max: 3 })).toMatchObject({ length: 0, invalid: 0 });
    expect((await queue().counts()).rejected).toBe(7);
  });

  test("ends a dequeue after it has been repeated ten times", async () => {
    await rig.queue().enqueueMany([...many(14), { payload: "fits" }]);
    expect(await queue().dequeue()).toMatchObject({ length: 0, invalid: 11 });
    expect(await queue().counts()).toMatchObject({ pending: 4, working: 0, rejected: 11 });
  });

  test("is reported by settleAndDequeue as by dequeue", async () => {
    await rig.queue().enqueueMany([{ payload: "a" }, { payload: 1 }, { payload: "b" }]);
    const [first] = await queue().dequeue();
    const { settled, tasks } = await queue().settleAndDequeue(
      [{ receipt: first!.receipt, outcome: "complete" }],
      { max: 2 },
    );
    expect([settled.length, tasks.map(({ payload }) => payload), tasks.invalid]).toEqual([1, ["b"], 1]);
  });

  test("is counted with the task that a waiting dequeue then gets", async () => {
    await rig.queue().enqueue(7);
    const pulled = queue().dequeue({ wait: "20s" });
    await expect.poll(async () => (await queue().counts()).rejected).toBe(1);
    await rig.queue().enqueue("fits");
    expect(await pulled).toMatchObject({ length: 1, invalid: 1 });
  });

  test("keeps its lease if the rejection is lost, and is rejected after it", async () => {
    await rig.queue().enqueue(7);
    const transport: typeof rig.transport = {
      send: (commands, options) =>
        commands.some((command) => "script" in command && command.script.name === "settle")
          ? Promise.reject(new Error("lost"))
          : rig.transport.send(commands, options),
    };
    expect(await rig.queue({ schema: z.string(), transport }).dequeue({ lease: "1m" })).toMatchObject({
      length: 0,
      invalid: 0,
    });
    expect(await queue().counts()).toMatchObject({ working: 1 });
    rig.now += 60_000;
    expect(await queue().dequeue()).toHaveLength(0);
    expect(await queue().counts()).toMatchObject({ rejected: 1 });
  });
});

test("a schema may be asynchronous, and may return values that JSON cannot express", async () => {
  const schema = z.iso.datetime().transform(async (text) => new Date(text));
  const queue = rig.queue({ schema });
  await queue.enqueue("2026-11-21T00:00:00Z");
  const [task] = await queue.dequeue();
  expectTypeOf(task!.payload).toEqualTypeOf<Date>();
  expect(task?.payload).toEqual(new Date("2026-11-21T00:00:00Z"));
});

test("types flow from the schema to producer and handler", () => {
  const queue = new Queue("typed", { transport: rig.transport, schema: schemas.zod });
  expectTypeOf(queue.enqueue).parameter(0).toEqualTypeOf<{ to: string; times?: number | undefined }>();
  expectTypeOf<Awaited<ReturnType<typeof queue.dequeue>>[number]["payload"]>().toEqualTypeOf<{
    to: string;
    times: number;
  }>();
});

test("a schema sees at enqueue what it will see at dequeue, after JSON", async () => {
  const dated = rig.queue({ schema: z.object({ at: z.date() }) });
  await expect(dated.enqueue({ at: new Date(0) })).rejects.toMatchObject({
    code: "invalid_argument",
    path: "payload.at",
    message: expect.stringMatching(/^payload\.at must match the schema of the queue, as JSON has it: .*date/),
  });
  const coerced = rig.queue({ schema: z.object({ at: z.coerce.date() }) });
  await coerced.enqueue({ at: new Date(0) }, { id: "a" });
  const [task] = await coerced.dequeue();
  expect(task?.payload).toEqual({ at: new Date(0) });
});

test("a payload that does not fit is rejected alone, also if the schema's message is long", async () => {
  // The message of valibot quotes the payload.
  const schema = v.pipe(v.string(), v.picklist(["fits"]));
  const long = "x".repeat(100_000);
  await rig.queue().enqueueMany([
    { payload: long, id: "long" },
    { payload: "short", id: "short" },
  ]);
  expect(await rig.queue({ schema }).dequeue({ max: 10 })).toHaveLength(0);
  expect(await rig.queue().counts()).toMatchObject({ working: 0, rejected: 2 });
  const { error } = (await rig.queue().get("long"))!;
  const { issues } = error as { issues: { message: string }[] };
  expect(issues[0]?.message).toMatch(/^.*"x+…$/);
});

test("it is rejected also with a long path and with control characters in path and message", async () => {
  const worst = "\u0001".repeat(10_000);
  const issues = Array.from({ length: 20 }, () => ({ message: worst, path: [worst, { key: worst }] }));
  const schema = { "~standard": { version: 1, vendor: "test", validate: () => ({ issues }) } } as const;
  await rig.queue().enqueue(1, { id: "a" });
  expect(await rig.queue({ schema }).dequeue()).toHaveLength(0);
  expect(await rig.queue().get("a")).toMatchObject({ state: "rejected", attempt: 1 });
});

test("the error at enqueue is short too", async () => {
  const schema = z.record(z.string(), z.number("m".repeat(10_000)));
  const refused = rig.queue({ schema }).enqueue({ ["k".repeat(10_000)]: "no number" } as never);
  const message = await refused.catch((error: Error) => error.message);
  expect(message).toMatch(/^payload\.k{59}… must match the schema of the queue: m{199}…$/);
});
