import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { DeadLetter, LeasedTask, QueueOptions, Settlement } from "../../../src/index.ts";
import { deadLetterTools, expired, letter, MINUTE } from "../../support/dead-letters.ts";
import { encrypting, MARKER } from "../../support/encrypting.ts";
import { numbered } from "../../support/new-tasks.ts";
import { times } from "../../support/recorded.ts";
import { useRig } from "../../support/rig.ts";

// What a queue's calls report of tasks that become dead letters.
const rig = useRig();
const { letters, watched, leased } = deadLetterTools(rig);

/** The receipt of each task, by id. */
const receiptsOf = (tasks: readonly LeasedTask[]) =>
  Object.fromEntries(tasks.map(({ id, receipt }) => [id, receipt])) as Record<
    "a.b.c" | "a" | "b" | "c" | "d" | "e",
    string
  >;

describe("a settle reports", () => {
  test("each task that it rejects, or requeues on its last attempt, with the error", async () => {
    const receipts = receiptsOf(await leased(["a.b.c", "b", "c", "d", "e"]));
    await rig.queue().enqueue(1, { id: "again", maxAttempts: 2 });
    const [again] = await rig.queue().dequeue();
    const cause = new Error("no route");
    await watched().settle([
      { receipt: receipts["a.b.c"], outcome: "reject", error: new TypeError("fetch failed", { cause }) },
      { receipt: receipts.b, outcome: "requeue", error: "no such customer" },
      { receipt: receipts.c, outcome: "requeue", delay: "1m", error: { secret: MARKER } },
      { receipt: receipts.d, outcome: "reject" },
      { receipt: receipts.e, outcome: "complete" },
      { receipt: again?.receipt ?? "", outcome: "requeue" },
    ]);
    expect(letters).toEqual([
      letter("a.b.c", "rejected", {
        error: {
          name: "TypeError",
          message: "fetch failed",
          cause: "no route",
          stack: expect.stringMatching(/\n +at /) as string,
        },
      }),
      letter("b", "attempts_exhausted", { error: { message: "no such customer" } }),
      letter("c", "attempts_exhausted", { error: { message: "a value that is not an Error" } }),
      letter("d", "rejected"),
    ]);
  });

  test("before what the call waits for, such as the arrangement of a wake", async () => {
    const receipts = receiptsOf(await leased(["a", "b"]));
    await rig.queue().enqueueMany(numbered(2));
    const others = await rig.queue().dequeue({ max: 2 });
    const [one, other] = others.map(({ receipt }) => ({ receipt, outcome: "requeue", delay: "1m" }) as const);
    const queue = watched({ wake: { wake: () => {}, wakeAt: () => new Promise<void>(() => {}) } });
    void queue.settle([{ receipt: receipts.a, outcome: "reject" }, one as Settlement]);
    void queue.settleAndDequeue([{ receipt: receipts.b, outcome: "reject" }, other as Settlement]);
    await expect.poll(() => letters.map(({ id }) => id).toSorted()).toEqual(["a", "b"]);
  });

  test("a task of one call alone, and of calls that share a request, to the queue that was called", async () => {
    const receipts = receiptsOf(await leased(["a", "b", "c"]));
    const others: DeadLetter[] = [];
    const other = rig.queue({ onDeadLetter: (one) => void others.push(one), coalesce: "in-flight" });
    const queue = watched({ coalesce: "in-flight" });
    const reject = (receipt: string) => [{ receipt, outcome: "reject", error: "no" }] as const;
    await Promise.all([
      queue.settle(reject(receipts.a)),
      other.settle(reject(receipts.b)),
      queue.settle(reject(receipts.c)),
    ]);
    const error = { message: "no" };
    expect(letters).toEqual([letter("a", "rejected", { error }), letter("c", "rejected", { error })]);
    expect(others).toEqual([letter("b", "rejected", { error })]);
  });

  test("a task that is not kept, because its deadTtl is 0", async () => {
    const [a, b] = await leased(["a", "b"], { deadTtl: 0 });
    await watched().settle([{ receipt: a?.receipt ?? "", outcome: "reject" }]);
    rig.now += MINUTE;
    await watched().dequeue();
    expect(letters).toEqual([letter("a", "rejected"), expired(b?.id ?? "")]);
  });

  test("a name and a message of at most 500 characters", async () => {
    const [task] = await leased(["a"]);
    const error = Object.assign(new Error("m".repeat(600)), { name: "n".repeat(600) });
    await watched().settle([{ receipt: task?.receipt ?? "", outcome: "reject", error }]);
    const [{ error: kept }] = letters as [DeadLetter];
    expect(kept).toEqual({
      name: `${"n".repeat(499)}…`,
      message: `${"m".repeat(499)}…`,
      stack: expect.stringMatching(/\n +at /) as string,
    });
  });
});

describe("a dequeue reports", () => {
  test("them in the call that also settles, after what it settled", async () => {
    await leased(["a"]);
    const [b] = await leased(["b"], { lease: "1h" });
    rig.now += MINUTE;
    const settlement = { receipt: b?.receipt ?? "", outcome: "reject", error: "no" } as const;
    const { tasks } = await watched().settleAndDequeue([settlement], { max: 10 });
    expect(tasks).toHaveLength(0);
    expect(letters).toEqual([letter("b", "rejected", { error: { message: "no" } }), expired("a")]);
  });

  test("them behind cancelled tasks, where it goes on with further requests", async () => {
    const queue = watched({ coalesce: false });
    await leased(["a"]);
    const cancelled = await queue.enqueueMany(numbered(450));
    await Promise.all(cancelled.map(({ id }) => queue.cancel(id)));
    rig.now += MINUTE;
    expect(await queue.dequeue({ max: 10 })).toHaveLength(0);
    expect(letters).toEqual([expired("a")]);
  });

  test("them if the limit of the queue then leaves no room for a task", async () => {
    await leased(["a", "b"], { lease: "1h" });
    await leased(["c"]);
    await rig.operator().configure({ maxWorking: 2 });
    await rig.queue().enqueue("waits");
    rig.now += MINUTE;
    expect(await watched().dequeue()).toHaveLength(0);
    expect(letters).toEqual([expired("c")]);
  });

  test("each of them once if calls share the request", async () => {
    await leased(["a", "b"]);
    rig.now += MINUTE;
    const queue = watched();
    await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
    expect((await times(4, () => queue.dequeue())).flat()).toHaveLength(2);
    expect(letters).toEqual([expired("a"), expired("b")]);
  });

  test("each payload that does not match the schema, with the path, and without the schema's words, which may quote it", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([
      { payload: { to: [MARKER] }, id: "misfit" },
      { payload: { to: "a@example.com", times: 1 }, id: "fits" },
    ]);
    const schema = z.object({ to: z.literal("a@example.com", `is ${MARKER}`), times: z.number() });
    const batch = await watched({ schema }).dequeue({ max: 10 });
    expect(batch.map(({ id }) => id)).toEqual(["fits"]);
    const error = { name: "SchemaError", message: "payload.to must match the schema of the queue" };
    expect(letters).toEqual([letter("misfit", "rejected", { error })]);
    const stored = { ...error, issues: [{ path: "to", message: `is ${MARKER}` }, { path: "times" }] };
    expect(await queue.get("misfit")).toMatchObject({ error: stored });
  });

  test.each<[string, z.ZodType, unknown, string, QueueOptions["encryption"]?]>([
    ["a field within", z.object({ to: z.object({ name: z.string() }) }), { to: { name: 7 } }, ".to"],
    ["an item of a list", z.array(z.string()), [7], ""],
    ["a key of a record", z.record(z.string(), z.number()), { "ada@example.com": "x" }, ""],
    ["an encrypted payload", z.object({ to: z.string() }), { to: 7 }, "", encrypting()],
  ])(
    "of a payload that does not match the schema no more than the field: %s",
    async (_, schema, payload, field, encryption) => {
      await rig.queue({ encryption }).enqueue(payload, { id: "misfit" });
      await watched({ encryption, schema }).dequeue();
      const message = `payload${field} must match the schema of the queue`;
      expect(letters).toEqual([letter("misfit", "rejected", { error: { name: "SchemaError", message } })]);
    },
  );

  test("each payload that cannot be decrypted", async () => {
    await rig.queue().enqueue(MARKER, { id: "plain" });
    await watched({ encryption: encrypting() }).dequeue();
    const message = "the payload cannot be decrypted: it is not encrypted, and acceptPlain is not set";
    expect(letters).toEqual([letter("plain", "rejected", { error: { name: "SluiceError", message } })]);
  });
});
