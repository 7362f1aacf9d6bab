import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  cloudflareQueue,
  drainBatches,
  NonRetryableError,
  Operator,
  Schedules,
  sweep,
} from "../../../src/index.ts";
import { sqs } from "../../../src/adapters/sqs.ts";
import { encrypting, MARKER, openByHand, KEYS, shows } from "../../support/encrypting.ts";
import { awkwardPayloads, comparable } from "../../support/payloads.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { FIRST, minutely } from "../../support/scheduling.ts";

const rig = useRig();
const encryption = encrypting();
const sealed = () => rig.queue({ encryption });
const operator = (options: object = { encryption }) =>
  new Operator(QUEUE, { transport: rig.transport, now: () => rig.now, ...options });

const payload = { to: `${MARKER}@example.com` };

const fieldOf = async (field: string) => (await rig.space()).tasks.get(field) ?? "";

describe("Redis sees no value of a task in plain text", () => {
  test("through its whole life: payload, progress, error, result, and schema errors", async () => {
    const schema = z.object({ to: z.string().includes("@") });
    const queue = rig.queue({ encryption, schema });
    const seen: unknown[] = [];
    const look = async () => seen.push(await rig.keySpace());
    await queue.enqueueMany(["a", "b", "c"].map((id) => ({ payload, id })));
    await sealed().enqueue({ to: MARKER }, { id: "misfit" });
    await look();
    const tasks = await queue.dequeue({ max: 4 });
    await tasks[0]?.extend("1m", { progress: { at: MARKER } });
    await look();
    await tasks[0]?.complete({ sent: MARKER });
    await tasks[1]?.reject(new Error(MARKER));
    await tasks[2]?.requeue({ error: MARKER, delay: 1 });
    await look();
    expect(tasks.map((task) => task.payload)).toEqual([payload, payload, payload]);
    expect(seen).toHaveLength(3);
    expect(seen.map(shows)).toEqual([false, false, false]);

    expect(await queue.get("a")).toMatchObject({ state: "completed", result: { sent: MARKER } });
    expect(await queue.get("b")).toMatchObject({ error: { name: "Error", message: MARKER } });
    expect(await queue.get("c")).toMatchObject({ state: "delayed", error: MARKER });
    expect(await queue.get("misfit")).toMatchObject({ state: "rejected", error: { name: "SchemaError" } });
  });

  test("without encryption Redis sees every value", async () => {
    await rig.queue().enqueue(payload);
    expect(shows(await rig.keySpace())).toBe(true);
    await rig.queue().enqueue(Buffer.from(`x${MARKER}`), { id: "bytes" });
    expect(shows(await fieldOf("bytes"))).toBe(true);
  });

  test("but it sees ids, groups, headers, keys, and the length of each value", async () => {
    const options = { id: "a", group: "tenant", headers: { trace: "t1" }, dedup: { key: "k1", window: 9 } };
    await sealed().enqueue(payload, options);
    const space = JSON.stringify(await rig.keySpace());
    for (const plain of ["tenant", "trace", "k1"]) expect(space).toContain(plain);
    const [stored] = /b[A-Za-z0-9+/=]+$/.exec(await fieldOf("a")) ?? [];
    const envelope = Buffer.from(stored?.slice(1) ?? "", "base64");
    expect(envelope).toHaveLength(JSON.stringify(payload).length + 39 + "old".length);
    expect(openByHand(envelope, KEYS.old, "emails a").plain).toBe(`j${JSON.stringify(payload)}`);
  });
});

describe("every value comes back identical", () => {
  test.each(awkwardPayloads.filter(([label]) => label !== "1 MB of text"))("%s", async (label, value) => {
    await sealed().enqueueMany(["a", "b"].map((id) => ({ payload: value, id })));
    const [a, b] = await sealed().dequeue({ max: 2 });
    await a?.complete(value);
    if (!label.startsWith("1 M")) await b?.reject(value);
    const [result, error] = [(await sealed().get("a"))?.result, (await sealed().get("b"))?.error];
    expect(comparable(a?.payload)).toStrictEqual(comparable(value));
    expect(comparable(b?.payload)).toStrictEqual(comparable(value));
    expect(comparable(result)).toStrictEqual(comparable(value));
    if (!label.startsWith("1 M")) expect(comparable(error)).toStrictEqual(comparable(value));
  });

  test("up to exactly one mebibyte, as without encryption", async () => {
    const [most, more] = ["x".repeat(1_048_574), "x".repeat(1_048_575)];
    const { id } = await sealed().enqueue(most);
    const [task] = await sealed().dequeue();
    expect(task?.payload === most).toBe(true);
    expect(await task?.complete(most)).toMatchObject({ ok: true });
    expect((await sealed().get(id))?.result === most).toBe(true);
    const refused = { code: "too_large", message: "payload has 1048577 bytes; at most 1048576 are allowed" };
    await expect(sealed().enqueue(more)).rejects.toMatchObject(refused);
  });

  test("a long error is always kept, shortened", async () => {
    await sealed().enqueue(1, { id: "a" });
    const [task] = await sealed().dequeue();
    await task?.reject(new Error("因".repeat(9_000)));
    const { error } = (await sealed().get("a"))!;
    expect((error as Error).message).toMatch(/^因{1999,}…$/);
  });

  test("progress, if it fits into one kibibyte encrypted", async () => {
    await sealed().enqueue(1, { id: "a" });
    const [task] = await sealed().dequeue();
    await task?.extend("1m", { progress: "x".repeat(700) });
    expect(await sealed().get("a")).toMatchObject({ state: "working", progress: "x".repeat(700) });
    const more = task?.extend("1m", { progress: "x".repeat(800) });
    await expect(more).rejects.toMatchObject({ code: "too_large", path: "progress" });
    const together = sealed().settle([
      { receipt: task?.receipt ?? "", outcome: "extend", progress: "x".repeat(800) },
      { receipt: "none", outcome: "complete" },
    ]);
    await expect(together).rejects.toMatchObject({ code: "too_large", path: "settlements[0].progress" });
  });
});

describe("reading", () => {
  test("wait and watch return decrypted values", async () => {
    await sealed().enqueue(payload, { id: "a" });
    const [task] = await sealed().dequeue();
    await task?.extend("1m", { progress: 40 });
    const reported = sealed().watch("a", { every: 10 })[Symbol.asyncIterator]();
    const seen: unknown[] = [];
    for (;;) {
      const { value, done } = await reported.next();
      if (done) break;
      seen.push(value);
      if (value.event === "progress") await task?.complete(MARKER);
    }
    expect(seen).toContainEqual(expect.objectContaining({ event: "progress", progress: 40 }));
    expect(seen.at(-1)).toMatchObject({ event: "end", task: { result: MARKER } });
    expect(await sealed().wait("a")).toMatchObject({ result: MARKER });
  });

  test("list and peek return decrypted values", async () => {
    await sealed().enqueueMany(["a", "b"].map((id) => ({ payload, id })));
    const [task] = await sealed().dequeue();
    await task?.reject(MARKER);
    expect(await operator().peek()).toMatchObject([{ id: "b", payload }]);
    const { tasks } = await operator().list({ state: "rejected", payloads: true });
    expect(tasks).toMatchObject([{ id: "a", payload, error: MARKER }]);
    expect(tasks[0]).not.toHaveProperty("undecryptable");
  });

  test("without the key get throws, peek marks the task as undecryptable, and encryption null returns the stored bytes", async () => {
    await sealed().enqueueMany(["a", "b"].map((id) => ({ payload, id })));
    await rig.queue().enqueue(1, { id: "plain" });
    const [task] = await sealed().dequeue();
    await task?.extend("1m", { progress: 40 });
    const why = {
      code: "undecryptable",
      message: "the progress cannot be decrypted: it is encrypted, and this queue has no encryption",
    };
    await expect(rig.queue().get("a")).rejects.toMatchObject(why);
    await expect(rig.queue().wait("a")).rejects.toMatchObject(why);
    await task?.complete(MARKER);
    const message = (what: string) =>
      `the ${what} cannot be decrypted: it is encrypted with the key "old", and this queue has no encryption`;
    await expect(rig.queue().get("a")).rejects.toMatchObject({ message: message("result") });
    expect(await rig.queue().get("b")).toMatchObject({ id: "b", state: "pending" });

    const pending = await operator({}).peek();
    expect(pending).toMatchObject([
      { id: "b", undecryptable: message("payload") },
      { id: "plain", payload: 1 },
    ]);
    expect(pending[0]).not.toHaveProperty("payload");
    const [raw] = await operator({ encryption: null }).peek();
    expect(openByHand(raw?.payload as Uint8Array, KEYS.old, "emails b").keyId).toBe("old");
    expect((await rig.queue({ encryption: null }).get("a"))?.result).toBeInstanceOf(Uint8Array);
  });
});

test("consumers of Cloudflare Queues and of SQS get plain values, and their errors are encrypted", async () => {
  const bodies: unknown[] = [];
  const failing = (body: unknown) => {
    bodies.push(body);
    throw new NonRetryableError(MARKER);
  };
  await sealed().enqueueMany(["a", "b"].map((id) => ({ payload, id })));
  const worker = cloudflareQueue(({ messages }) => failing(messages[0]?.body), { queue: QUEUE });
  await drainBatches(sealed(), worker, { batch: 1, budget: "5s" });
  await operator().redrive({ reason: "rejected" });
  const lambda = sqs(async ({ Records }) => failing(JSON.parse(Records[0]?.body ?? "")), { queue: QUEUE });
  await drainBatches(sealed(), lambda, { batch: 1, budget: "5s" });
  expect(bodies).toEqual([payload, payload, payload, payload]);
  expect(shows(await rig.keySpace())).toBe(false);
  const error = { name: "NonRetryableError", message: MARKER };
  expect(await sealed().get("a")).toMatchObject({ state: "rejected", error });
});

test("an error with the code undecryptable is encrypted like any other", async () => {
  const secret = Object.assign(new Error(MARKER), { code: "undecryptable" });
  await sealed().enqueueMany(["a", "b", "c"].map((id) => ({ payload, id })));
  const [a, b] = await sealed().dequeue({ max: 2 });
  await a?.reject(secret);
  await b?.requeue({ error: secret, delay: "1h" });
  const schema = z.object({ to: z.string() }).transform(() => {
    throw secret;
  });
  await expect(rig.queue({ encryption, schema }).dequeue()).rejects.toBe(secret);
  expect(shows(await rig.keySpace())).toBe(false);
  expect(await sealed().get("a")).toMatchObject({ error: { name: "Error", message: MARKER } });
});

test("a schema checks plain values, before encryption and after decryption", async () => {
  const schema = z.object({ at: z.iso.datetime().transform((text) => new Date(text)) });
  const queue = rig.queue({ encryption, schema });
  await expect(queue.enqueue({ at: "never" })).rejects.toMatchObject({ path: "payload.at" });
  await queue.enqueue({ at: "2026-11-21T00:00:00Z" });
  expect((await queue.dequeue())[0]?.payload).toEqual({ at: new Date("2026-11-21T00:00:00Z") });
});

describe("a schedule's payload", () => {
  const schedules = (options: object = { encryption }) =>
    new Schedules(QUEUE, { transport: rig.transport, now: () => rig.now, ...options });

  test("is encrypted in the timetable and in each occurrence, and decrypted with the key", async () => {
    await schedules().put("daily.7", { ...minutely, payload });
    expect(shows(await rig.keySpace())).toBe(false);
    expect(await schedules().get("daily.7")).toMatchObject({ payload });
    for (let i = 0; i < 2; i++) {
      rig.now = FIRST + i * 60_000;
      expect(await sweep(rig.transport, { now: () => rig.now })).toMatchObject({ scheduled: 1 });
    }
    expect(shows(await rig.keySpace())).toBe(false);
    expect((await sealed().dequeue({ max: 5 })).map((task) => task.payload)).toEqual([payload, payload]);
    await schedules().remove("daily.7");
  });

  test("is not returned without the key", async () => {
    await schedules().put("x", { ...minutely, payload });
    await expect(schedules({}).get("x")).rejects.toMatchObject({
      code: "undecryptable",
      message: expect.stringMatching(/^the payload cannot .* the key "old"/) as string,
    });
    expect((await schedules({ encryption: null }).get("x"))?.payload).toBeInstanceOf(Uint8Array);
  });
});
