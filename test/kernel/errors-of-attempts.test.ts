import { beforeEach, describe, expect, test } from "vitest";
import type { LeasedTask, Queue } from "../../src/index.ts";
import { callOf } from "../../src/kernel/scripts/binding.ts";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { settleScript } from "../../src/kernel/scripts/take-scripts.ts";
import { deepTools } from "../support/deep.ts";
import { encrypting, KEYS, MARKER, shows } from "../support/encrypting.ts";
import { QUEUE, useRig } from "../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const { found } = deepTools(rig);
const id = "a";

const recordOf = async (of = id) => (await rig.space()).tasks.get(`.${of}`) ?? "";
const errorsOf = async (queue: Queue = rig.queue()) => (await queue.get(id))?.errors;

/** The texts of a task's errors, without attempts and times. */
const textsOf = async (queue?: Queue) => (await errorsOf(queue))?.map(({ error }) => error);

/** The short form of an error. */
const cut = (error: string) => (error.length > 200 ? `${error.slice(0, 199)}…` : error);

/** Enqueues a task, and lets one attempt for each error fail. */
async function failedWith(errors: readonly unknown[], queue = rig.queue({ maxAttempts: 0 })) {
  await queue.enqueue("work", { id });
  for (const error of errors) await (await queue.dequeue())[0]?.requeue({ error });
}

describe("a task keeps the error of each attempt", () => {
  test("the last sixteen of twenty", async () => {
    await failedWith(Array.from({ length: 20 }, (_, i) => `failure ${i + 1}`));
    expect((await errorsOf())?.map(({ attempt, error }) => [attempt, error])).toEqual(
      Array.from({ length: 16 }, (_, i) => [i + 5, `failure ${i + 5}`]),
    );
    expect(await found()).toEqual({});
  });

  const long = "Die Adresse 😀 ist falsch; ".repeat(100);
  test("cut to 200 characters, also between those that are two units long; the last one stays as it is", async () => {
    await failedWith([long, "😀".repeat(300), `${"x".repeat(198)}😀😀😀`, new Error(long)]);
    expect(await textsOf()).toEqual([
      `${Array.from(long).slice(0, 199).join("")}…`,
      `${"😀".repeat(199)}…`,
      `${"x".repeat(198)}😀…`,
      `${Array.from(`Error: ${long}`).slice(0, 199).join("")}…`,
    ]);
    expect(await rig.queue().get(id)).toMatchObject({ error: { name: "Error", message: long } });
    // Four errors of at most 800 bytes each, and the last one in full.
    expect(Buffer.byteLength(await recordOf())).toBeLessThan(4 * 900 + 2 * Buffer.byteLength(long));
  });

  test("as it was, whatever its characters are", async () => {
    const errors = [
      "a tab\tand a\nnew line\r\n",
      "; semicolons;; =E=1 2;h=w1",
      "100%, %3B, %25, %09, %",
      'quotes " and \\ backslashes',
      "  separators, and a NUL \0",
      'sj"short"\nj',
      "1 2 3\t4 5 6",
      "",
      "😀 語",
      { "a;b": ["%", "\t"] },
    ];
    await failedWith(errors);
    expect(await textsOf()).toEqual(
      errors.map((error) => (typeof error === "string" ? error : JSON.stringify(error))),
    );
    expect((await rig.queue().get(id))?.error).toEqual(errors.at(-1));
    expect(await found()).toEqual({});
  });
});

describe("the errors of attempts are kept", () => {
  test.each<[string, (task: LeasedTask, queue: Queue) => Promise<unknown>]>([
    ["it completes with nothing to keep", (task) => task.complete("done", { ttl: 0 })],
    ["it is rejected with nothing to keep", (task) => task.reject("secret", { ttl: 0 })],
    [
      "it is cancelled",
      async (task, queue) => {
        await queue.cancel(id);
        return task.requeue({ error: "secret" });
      },
    ],
    [
      "its record is removed",
      async (task) => {
        await task.reject("secret");
        return rig.operator().remove(id);
      },
    ],
  ])("no longer if %s", async (_, end) => {
    await failedWith(["secret"], queue);
    const [task] = await queue.dequeue();
    await end(task as LeasedTask, queue);
    expect(await recordOf()).toMatch(/^1;/);
    expect(await recordOf()).not.toContain("secret");
  });
});

describe("the errors of an encrypting queue", () => {
  const encryption = encrypting();
  const errors = [new Error(MARKER), `${MARKER} ${"x".repeat(500)}`, { why: MARKER }];
  const texts = [`Error: ${MARKER}`, cut(`${MARKER} ${"x".repeat(500)}`), `{"why":"${MARKER}"}`];

  test("are encrypted, also their short forms, and read with the key", async () => {
    const queue = rig.queue({ encryption });
    await failedWith(errors, queue);
    expect(shows(await rig.keySpace())).toBe(false);
    expect(await textsOf(queue)).toEqual(texts);
    const operator = rig.operator({ encryption });
    const { tasks } = await operator.list({ state: "pending" });
    expect(tasks[0]?.errors.map(({ error }) => error)).toEqual(texts);
  });

  test("are undecryptable without the key, as the last error is, and bytes with `encryption: null`", async () => {
    await failedWith(errors, rig.queue({ encryption }));
    const other = encrypting({ keys: { old: KEYS.other } });
    for (const reader of [rig.queue(), rig.queue({ encryption: other })]) {
      await expect(reader.get(id)).rejects.toMatchObject({ code: "undecryptable" });
    }
    const { tasks } = await rig.operator().list({ state: "pending" });
    expect(tasks).toMatchObject([{ id, errors: [], undecryptable: expect.any(String) as string }]);
    const raw = await textsOf(rig.queue({ encryption: null }));
    expect(raw?.map((error) => error instanceof Uint8Array)).toEqual([true, true, true]);
  });
});

describe("an error that another client settles with", () => {
  /** Requeues as a client that sends the error as it is. */
  async function requeuedWith(text: string): Promise<void> {
    await queue.enqueue("work", { id });
    const [task] = await queue.dequeue();
    const [, , lease, token] = task?.receipt.split(".") ?? [];
    const item = { id, proof: `${lease},${token}`, terms: "requeue 0", text };
    await rig.transport.send([
      callOf(settleScript, queueKeys(QUEUE), { testNow: String(rig.now), call: "" }, [item]),
    ]);
  }

  const long = "x".repeat(1_798);
  test.each<[what: string, given: string, text: string, last: unknown]>([
    ["in several lines is one entry", 'j{\n\t"status": 503\n}', '{"status":503}', { status: 503 }],
    ["of over 1,800 bytes without a short form leaves an empty text", `j"${long}"`, "", long],
    [
      "of 1,800 bytes is copied, and shown with 200 characters",
      `j"${long.slice(1)}"`,
      cut(long),
      long.slice(1),
    ],
    ["with a short form of over 1,800 bytes leaves an empty text", `sj"${long}"\nj"full"`, "", "full"],
  ])("%s, and is kept as the last error", async (_, given, text, last) => {
    await requeuedWith(given);
    expect(await textsOf()).toEqual([text]);
    expect(await rig.queue().get(id)).toMatchObject({ error: last });
  });
});
