import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { NonRetryableError, RetryAfter } from "../../src/drain/failures.ts";
import {
  type LambdaContext,
  sqs,
  type SqsEvent,
  type SqsHandler,
  type SqsOptions,
} from "../../src/adapters/sqs.ts";
import { START, useRig } from "../support/rig.ts";
import { thrower } from "../drain/draining.ts";
import { settleBatch } from "../drain/settle-batch.ts";

const rig = useRig();

/** The event and context that a handler gets for the pending tasks. */
async function given(options: Partial<SqsOptions> = {}) {
  let event: SqsEvent | undefined;
  let context: LambdaContext | undefined;
  const handler = sqs(async (...args) => void ([event, context] = args), { queue: "emails", ...options });
  await settleBatch(rig.queue(), handler);
  return { records: event?.Records ?? [], context: context as LambdaContext };
}

const md5 = (text: string) => createHash("md5").update(text).digest("hex");
describe("a record", () => {
  it("shows its task as Lambda shows a message", async () => {
    const queue = rig.queue();
    await queue.enqueue({ to: "ä" }, { id: "x", headers: { "content-type": "text/plain" } });
    rig.now += 1_000;
    await (await queue.dequeue())[0]?.requeue();
    const body = '{"to":"ä"}';
    const attribute = { stringListValues: [], binaryListValues: [] };
    expect((await given()).records).toEqual([
      {
        messageId: "x",
        receiptHandle: expect.stringMatching(/^1\.2\..*\.x$/),
        body,
        attributes: {
          ApproximateReceiveCount: "2",
          SentTimestamp: String(START),
          SenderId: "sluice",
          ApproximateFirstReceiveTimestamp: String(START),
        },
        messageAttributes: {
          "content-type": { ...attribute, stringValue: "text/plain", dataType: "String" },
        },
        md5OfBody: md5(body),
        eventSource: "aws:sqs",
        eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:emails",
        awsRegion: "us-east-1",
      },
    ]);
  });

  it.each([
    ["a text unchanged", "text", "text"],
    ["an empty text", "", ""],
    ["a text that looks like JSON", '{"a":1}', '{"a":1}'],
    ["a number", 0, "0"],
    ["null", null, "null"],
    ["a list", [1, "a"], '[1,"a"]'],
    ["bytes in base64", new Uint8Array([0, 1, 254, 255]), "AAH+/w=="],
  ])("has as its body %s, with its MD5", async (_, payload, body) => {
    await rig.queue().enqueue(payload);
    expect((await given()).records).toMatchObject([{ body, md5OfBody: md5(body) }]);
  });

  it("shows the task's group as its message group, and comes from the ARN and region that were given", async () => {
    await rig.queue().enqueue(1, { group: "tenant-1" });
    const eventSourceARN = "arn:aws:sqs:eu-west-1:123456789012:mails";
    const { records } = await given({ eventSourceARN, awsRegion: "eu-west-1" });
    const attributes = { MessageGroupId: "tenant-1" };
    expect(records).toMatchObject([{ eventSourceARN, awsRegion: "eu-west-1", attributes }]);
  });
});

describe("the context", () => {
  it("has all fields of Lambda's, with another request id for each batch", async () => {
    await rig.queue().enqueue(1);
    const { context } = await given({ awsRegion: "eu-west-1", timeout: "1m" });
    expect(context).toEqual({
      callbackWaitsForEmptyEventLoop: true,
      functionName: "sluice",
      functionVersion: "$LATEST",
      invokedFunctionArn: "arn:aws:lambda:eu-west-1:000000000000:function:sluice",
      memoryLimitInMB: "128",
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      logGroupName: "/aws/lambda/sluice",
      logStreamName: "",
      getRemainingTimeInMillis: expect.any(Function),
    });
    const left = context.getRemainingTimeInMillis();
    expect([Number.isInteger(left), left > 0, left <= 60_000]).toEqual([true, true, true]);
    await rig.queue().enqueue(2);
    expect((await given()).context.awsRequestId).not.toBe(context.awsRequestId);
  });

  it("takes over the given fields", async () => {
    await rig.queue().enqueue(1);
    const { context } = await given({
      context: { functionName: "mailer", awsRequestId: "r-1", getRemainingTimeInMillis: () => 7 },
    });
    expect(context).toMatchObject({
      functionName: "mailer",
      awsRequestId: "r-1",
      logGroupName: "/aws/lambda/mailer",
    });
    expect(context.getRemainingTimeInMillis()).toBe(7);
  });

  it("has no time left when the drain stops the handler, or when it is over", async () => {
    const left: number[] = [];
    const handler: SqsHandler = async (_event, context) => void left.push(context.getRemainingTimeInMillis());
    await sqs(handler, { queue: "emails" })([], AbortSignal.abort());
    await sqs(handler, { queue: "emails", timeout: 0 })([], new AbortController().signal);
    expect(left).toEqual([0, 0]);
  });
});

it.each<[string, string, unknown, unknown]>([
  ["no handler", "handler", undefined, { queue: "q" }],
  ["no options", "options", () => {}, undefined],
  ["no queue", "queue", () => {}, {}],
  ["a misspelt option", "eventSourceArn", () => {}, { queue: "q", eventSourceArn: "" }],
  ["a backoff without a delay", "backoff", () => {}, { queue: "q", backoff: [] }],
  ["a backoff with an invalid later delay", "backoff[1]", () => {}, { queue: "q", backoff: ["1s", "soon"] }],
  ["an invalid timeout", "timeout", () => {}, { queue: "q", timeout: "1 s" }],
  [
    "a text for true or false",
    "reportBatchItemFailures",
    () => {},
    { queue: "q", reportBatchItemFailures: 1 },
  ],
])("refuses %s", (_, path, handler, options) => {
  expect(() => sqs(handler as SqsHandler, options as SqsOptions)).toThrow(
    expect.objectContaining({ code: "invalid_argument", path }),
  );
});

it("is not loaded by Workers, which have no node:crypto", async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL("../../src/index.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    metafile: true,
    write: false,
  });
  const files = Object.keys(metafile.inputs);
  expect(files).toContain("src/kernel/queue.ts");
  expect(files.filter((file) => file.includes("sqs"))).toEqual([]);
});

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
