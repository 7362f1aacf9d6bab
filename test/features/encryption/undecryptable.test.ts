import { describe, expect, test } from "vitest";
import { drain, Operator } from "../../../src/index.ts";
import { encrypting, KEYS, MARKER } from "../../support/encrypting.ts";
import { reported } from "../../drain/draining.ts";
import { many } from "../../support/new-tasks.ts";
import { key, QUEUE, useRig } from "../../support/rig.ts";

// Encrypted values that the reader cannot or must not decrypt.
const rig = useRig();
const encryption = encrypting();
const sealed = () => rig.queue({ encryption });

const payload = { to: `${MARKER}@example.com` };

/** Writes one field of the tasks hash directly, without the product. */
const setField = (field: string, value: string) => rig.command("HSET", key("tasks"), field, value);
const fieldOf = async (field: string) => (await rig.space()).tasks.get(field) ?? "";

describe("a payload that cannot be decrypted becomes a dead letter that says why, and harms no other task", () => {
  /** Drains the tasks a, b and c, of which b cannot be decrypted, and returns b's error message. */
  async function drained() {
    const handled: unknown[] = [];
    const report = await drain(sealed(), ({ id, payload: got }) => void handled.push([id, got]), {
      batch: 10,
    });
    expect(report).toMatchObject({ completed: 2, requeued: 0, rejected: 1, ended: "empty" });
    expect(handled).toEqual([
      ["a", payload],
      ["c", payload],
    ]);
    const letter = { state: "rejected", reason: "rejected", attempt: 1, charged: 1 };
    expect(await rig.queue().get("b")).toMatchObject(letter);
    const { error } = (await rig.queue().get("b"))!;
    return (error as Error).message;
  }

  const three = async (b: Parameters<typeof rig.queue>[0]) => {
    await sealed().enqueue(payload, { id: "a" });
    await rig.queue(b).enqueue(payload, { id: "b" });
    await sealed().enqueue(payload, { id: "c" });
  };

  test("if its key is missing; with the key it can be redriven by its error text", async () => {
    const both = { old: KEYS.old, new: KEYS.new };
    await three({ encryption: encrypting({ keys: both, current: "new" }) });
    expect(await drained()).toBe(
      'the payload cannot be decrypted: it is encrypted with the key "new", which is not among the keys given',
    );
    const operator = new Operator(QUEUE, { transport: rig.transport, now: () => rig.now, encryption });
    expect(await operator.redrive({ reason: "rejected", text: "cannot be decrypted" })).toMatchObject({
      redriven: 1,
    });
    const [task] = await rig.queue({ encryption: encrypting({ keys: both }) }).dequeue();
    expect(task?.payload).toEqual(payload);
  });

  test("if it was altered", async () => {
    await three({ encryption });
    const record = await fieldOf("b");
    await setField(
      "b",
      record.replace(/.{4}$/, (end) => (end === "AAA=" ? "BBA=" : "AAA=")),
    );
    expect(await drained()).toMatch(/with the key "old", and was altered/);
  });

  test("if it belongs to another task", async () => {
    await three({ encryption });
    await sealed().enqueue({ to: "b" }, { id: "d", delay: "1h" });
    await setField("b", await fieldOf("d"));
    expect(await drained()).toMatch(/belongs to another task or queue/);
  });
});

test("a backlog under another key is rejected and counted by a drain, and reaches no handler", async () => {
  await rig.queue({ encryption: encrypting({ keys: { old: KEYS.other } }) }).enqueueMany(many(150));
  const report = await drain(sealed(), () => expect.unreachable(), { batch: 1 });
  expect(report).toEqual(reported({ rejected: 150 }));
  expect(await rig.queue().counts()).toMatchObject({ pending: 0, working: 0, rejected: 150 });
});

test("a result of another task, or a forged plain result, is refused as undecryptable", async () => {
  await sealed().enqueueMany([1, 2].map((n) => ({ payload: n, id: `t${n}` })));
  const tasks = await sealed().dequeue({ max: 2 });
  for (const task of tasks) await task.complete(task.id);
  const [own, others] = [await fieldOf(".t1"), await fieldOf(".t2")];
  const head = own.slice(0, own.indexOf("\n") + 1);
  await setField(".t1", head + others.slice(others.indexOf("\n") + 1));
  await expect(sealed().get("t1")).rejects.toMatchObject({ code: "undecryptable" });
  await setField(".t1", `${head}j"forged"`);
  await expect(sealed().get("t1")).rejects.toMatchObject({ code: "undecryptable" });
  expect(await sealed().get("t2")).toMatchObject({ result: "t2" });
});
