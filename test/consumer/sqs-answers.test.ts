import { describe, expect, it } from "vitest";
import { NonRetryableError, RetryAfter } from "../../src/consumer/drain/failures.ts";
import { sqs, type SqsHandler, type SqsOptions } from "../../src/consumer/adapters/sqs.ts";
import { START, useRig } from "../support/rig.ts";
import { thrower } from "./draining.ts";
import { settleBatch } from "./settle-batch.ts";

const rig = useRig();

/** The outcomes of tasks `a`, `b`, `c`: `done`, or `again` in an hour. */
async function settled(handler: SqsHandler, options: Partial<SqsOptions> = {}): Promise<string> {
  const queue = rig.queue();
  await queue.enqueueMany(["a", "b", "c"].map((id) => ({ id, payload: id })));
  await settleBatch(queue, sqs(handler, { queue: "emails", backoff: ["1h"], ...options }));
  const tasks = await Promise.all(["a", "b", "c"].map((id) => queue.get(id)));
  return tasks
    .map((task) => (task?.state === "completed" ? "done" : task?.dueAt === START + 3_600_000 ? "again" : "?"))
    .join(", ");
}

const all = "done, done, done";
const none = "again, again, again";

const failures = (...ids: unknown[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});

describe("the handler's response", () => {
  it.each<[string, unknown, string]>([
    ["nothing: all succeeded", undefined, all],
    ["null: all succeeded", null, all],
    ["an empty object: all succeeded", {}, all],
    ["an object of something else: all succeeded", { statusCode: 200 }, all],
    ["no list: all succeeded", { batchItemFailures: undefined }, all],
    ["a null list: all succeeded", { batchItemFailures: null }, all],
    ["an empty list: all succeeded", failures(), all],
    ["one id: that one failed", failures("b"), "done, again, done"],
    ["two ids: those two failed", failures("c", "a"), "again, done, again"],
    ["all ids: all failed", failures("a", "b", "c"), none],
    ["an id twice: that one failed", failures("b", "b"), "done, again, done"],
    [
      "more fields than the id: that one failed",
      { batchItemFailures: [{ itemIdentifier: "b", why: 1 }] },
      "done, again, done",
    ],
    ["an empty id: all failed", failures("a", ""), none],
    ["a null id: all failed", failures("a", null), none],
    ["an id that is no text: all failed", failures(1), none],
    ["an id under another key: all failed", { batchItemFailures: [{ messageId: "a" }] }, none],
    ["a misspelt key: all failed", { batchItemFailures: [{ ItemIdentifier: "a" }] }, none],
    ["an id of no record: all failed", failures("a", "z"), none],
    ["ids without objects: all failed", { batchItemFailures: ["a"] }, none],
    ["a null failure: all failed", { batchItemFailures: [null] }, none],
    ["a list that is no array: all failed", { batchItemFailures: "a" }, none],
    ["a text: all failed", "done", none],
    ["a list alone: all failed", [{ itemIdentifier: "a" }], none],
    ["true: all failed", true, none],
    ["what JSON cannot express: all failed", { batchItemFailures: [1n] }, none],
    ["an object with toJSON: its result counts", { toJSON: () => failures("a") }, "again, done, done"],
  ])("%s", async (_, response, becomes) => {
    expect(await settled(async () => response)).toBe(becomes);
  });

  it("the response is ignored if reportBatchItemFailures is off, but not a handler that fails", async () => {
    const off = { reportBatchItemFailures: false };
    expect(await settled(async () => failures("a", "z"), off)).toBe(all);
    await rig.operator().deleteQueue();
    expect(await settled(() => Promise.reject(new Error("broken")), off)).toBe(none);
  });
});

describe("a handler may answer", () => {
  const no = new Error("no");
  const some = failures("a");
  /** Calls back after it has returned this. */
  const later = (error?: Error | string | null, response?: unknown, returned?: unknown): SqsHandler =>
    function (_event, _context, callback) {
      setTimeout(() => callback(error, response), 1);
      return returned;
    };

  it.each<[string, SqsHandler, string]>([
    ["by a promise", async () => some, "again, done, done"],
    ["by a promise that rejects", () => Promise.reject(no), none],
    ["by returning", () => some, "again, done, done"],
    ["by returning nothing", () => {}, all],
    ["by throwing", thrower(no), none],
    ["by its callback", later(null, some), "again, done, done"],
    ["by its callback, without a response", later(), all],
    ["by its callback, with an error", later(no, {}), none],
    ["by its callback, with a text as error", later("no"), none],
    ["by its callback at once", (_event, _context, callback) => callback(null, some), "again, done, done"],
    ["by its callback, whatever it returns", later(null, some, 3), "again, done, done"],
    ["by a promise although it has a callback", async (_event, _context, _) => some, "again, done, done"],
    ["by throwing although it has a callback", (_event, _context, _callback) => thrower(no)(), none],
    [
      "twice: the first answer counts",
      (_event, _context, callback) => {
        callback(null, some);
        callback(no);
        throw no;
      },
      "again, done, done",
    ],
  ])("%s", async (_, handler, becomes) => {
    expect(await settled(handler)).toBe(becomes);
  });
});

it("a failed task keeps the error, a reported one says that it was reported; the last attempt makes a dead letter", async () => {
  const queue = rig.queue();
  await queue.enqueue(1, { id: "a", maxAttempts: 3 });
  const responses = [() => failures("a"), () => failures("z"), thrower(new RangeError("far"))];
  const handler = sqs(async () => responses.shift()?.(), { queue: "emails", backoff: [0] });
  const kept: unknown[] = [];
  while (responses.length > 0) {
    await settleBatch(queue, handler);
    kept.push((await queue.get("a"))?.error);
  }
  const message =
    "the handler's response is malformed: batchItemFailures[0].itemIdentifier must be the messageId of a record";
  expect(kept).toEqual([
    "reported in batchItemFailures",
    { name: "TypeError", message },
    { name: "RangeError", message: "far" },
  ]);
  expect(await queue.get("a")).toMatchObject({ state: "rejected", reason: "attempts_exhausted" });
});

it("a NonRetryableError makes dead letters, RetryAfter says when", async () => {
  const queue = rig.queue();
  for (const [id, error] of Object.entries({ a: new RetryAfter("2h"), b: new NonRetryableError("no") })) {
    await queue.enqueue(1, { id });
    await settleBatch(queue, sqs(thrower(error), { queue: "emails" }));
  }
  expect(await queue.get("a")).toMatchObject({ state: "delayed", dueAt: START + 7_200_000 });
  expect(await queue.get("b")).toMatchObject({ state: "rejected", reason: "rejected" });
});
