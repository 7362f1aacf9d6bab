import { describe, expect, it } from "vitest";
import { drainBatches } from "../../src/consumer/drain/drain.ts";
import { NonRetryableError, RetryAfter } from "../../src/consumer/drain/failures.ts";
import { sqs, type SqsHandler, type SqsOptions } from "../../src/consumer/adapters/sqs.ts";
import { START, useRig } from "../support/rig.ts";
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

  it("the response is ignored if reportBatchItemFailures is off", async () => {
    expect(await settled(async () => failures("a", "z"), { reportBatchItemFailures: false })).toBe(all);
  });

  it("a handler that fails fails all, also if reportBatchItemFailures is off", async () => {
    const fails = () => Promise.reject(new Error("broken"));
    expect(await settled(fails, { reportBatchItemFailures: false })).toBe(none);
  });
});

describe("a handler may answer", () => {
  const later = (call: () => void) => void setTimeout(call, 1);

  it.each<[string, SqsHandler, string]>([
    ["by a promise", async () => failures("a"), "again, done, done"],
    ["by a promise that rejects", () => Promise.reject(new Error("no")), none],
    ["by returning", () => failures("a"), "again, done, done"],
    ["by returning nothing", () => {}, all],
    [
      "by throwing",
      () => {
        throw new Error("no");
      },
      none,
    ],
    [
      "by its callback",
      (_event, _context, callback) => later(() => callback(null, failures("a"))),
      "again, done, done",
    ],
    ["by its callback, without a response", (_event, _context, callback) => later(() => callback()), all],
    [
      "by its callback, with an error",
      (_event, _context, callback) => later(() => callback(new Error("no"), {})),
      none,
    ],
    [
      "by its callback, with a text as error",
      (_event, _context, callback) => later(() => callback("no")),
      none,
    ],
    [
      "by its callback at once",
      (_event, _context, callback) => callback(null, failures("a")),
      "again, done, done",
    ],
    [
      "by its callback, whatever it returns",
      (_event, _context, callback) => {
        later(() => callback(null, failures("a")));
        return 3;
      },
      "again, done, done",
    ],
    [
      "by a promise although it has a callback",
      async (_event, _context, _callback) => failures("a"),
      "again, done, done",
    ],
    [
      "by throwing although it has a callback",
      (_event, _context, _callback) => {
        throw new Error("no");
      },
      none,
    ],
    [
      "twice: the first answer counts",
      (_event, _context, callback) => {
        callback(null, failures("a"));
        callback(new Error("no"));
        throw new Error("no");
      },
      "again, done, done",
    ],
  ])("%s", async (_, handler, becomes) => {
    expect(await settled(handler)).toBe(becomes);
  });
});

it("a failed task keeps the error, a reported one says that it was reported", async () => {
  const queue = rig.queue();
  const errors = async () => Promise.all(["a", "b"].map(async (id) => (await queue.get(id))?.error));
  await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload: id })));
  const responses = [
    () => failures("a", "b"),
    () => failures("z"),
    () => Promise.reject(new RangeError("far")),
  ];
  const handler = sqs(async () => responses.shift()?.(), { queue: "emails", backoff: [0] });
  const kept = [];
  while (responses.length > 0) {
    await settleBatch(queue, handler);
    kept.push(await errors());
  }
  const reported = "reported in batchItemFailures";
  const malformed = {
    name: "TypeError",
    message:
      "the handler's response is malformed: batchItemFailures[0].itemIdentifier must be the messageId of a record",
  };
  const far = { name: "RangeError", message: "far" };
  expect(kept).toEqual([
    [reported, reported],
    [malformed, malformed],
    [far, far],
  ]);
});

it("a NonRetryableError makes dead letters, RetryAfter says when", async () => {
  const queue = rig.queue();
  await queue.enqueue(1, { id: "a" });
  const later = sqs(() => Promise.reject(new RetryAfter("2h")), { queue: "emails" });
  await settleBatch(queue, later);
  expect(await queue.get("a")).toMatchObject({ state: "delayed", dueAt: START + 7_200_000 });
  await queue.enqueue(2, { id: "b" });
  const never = sqs(() => Promise.reject(new NonRetryableError("no")), { queue: "emails" });
  await settleBatch(queue, never);
  expect(await queue.get("b")).toMatchObject({ state: "rejected", reason: "rejected" });
});

it("a failure on the last attempt makes a dead letter", async () => {
  const queue = rig.queue();
  await queue.enqueue("a", { id: "x", maxAttempts: 1 });
  await settleBatch(
    queue,
    sqs(async () => failures("x"), { queue: "emails" }),
  );
  expect(await queue.get("x")).toMatchObject({ state: "rejected", reason: "attempts_exhausted" });
});

it("a drain gives its batches to a function until nothing is left", async () => {
  const queue = rig.queue<number>();
  await queue.enqueueMany(Array.from({ length: 25 }, (_, payload) => ({ id: `x${payload}`, payload })));
  const seen: string[] = [];
  const handler = sqs(
    async ({ Records }) => {
      seen.push(...Records.map(({ body }) => body));
      const failed = Records.filter(({ body, attributes }) => {
        return body === "7" && attributes.ApproximateReceiveCount === "1";
      });
      return failures(...failed.map(({ messageId }) => messageId));
    },
    { queue: "emails", backoff: [0] },
  );
  const report = await drainBatches(queue, handler, { batch: 10, concurrency: 10 });
  expect(report).toMatchObject({ completed: 25, requeued: 1, rejected: 0, lost: 0, ended: "empty" });
  expect(seen).toHaveLength(26);
  expect(await queue.get("x7")).toMatchObject({ state: "completed", attempt: 2 });
});
