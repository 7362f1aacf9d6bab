import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import {
  type LambdaContext,
  sqs,
  type SqsEvent,
  type SqsHandler,
  type SqsOptions,
} from "../../src/consumer/adapters/sqs.ts";
import { START, useRig } from "../support/rig.ts";
import { settleBatch } from "./settle-batch.ts";

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
  expect(files).toContain("src/queue/tasks/queue.ts");
  expect(files.filter((file) => file.includes("sqs"))).toEqual([]);
});
