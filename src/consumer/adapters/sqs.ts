import { createHash, randomUUID } from "node:crypto";
import { invalidArgument } from "../../errors.ts";
import { toBase64 } from "../../queue/core/base64.ts";
import { type Backoff, checkBackoff } from "../../queue/core/backoff.ts";
import { milliseconds, type Duration } from "../../queue/core/duration.ts";
import { onlyOptions, queueName, trueOrFalse } from "../../queue/core/validation.ts";
import type { BatchHandler, Task, TaskOutcome } from "../drain/types.ts";
import { outcomeOf } from "../drain/to-settlement.ts";

/** A task as Lambda gives an SQS message to a function. */
export interface SqsRecord {
  /** The task's id. */
  messageId: string;
  /** The task's receipt. */
  receiptHandle: string;
  /** A payload that is a text as it is, bytes as base64, any other as its JSON. */
  body: string;
  attributes: {
    /** Which delivery this is, from 1. */
    ApproximateReceiveCount: string;
    /** When the task was enqueued, epoch ms. */
    SentTimestamp: string;
    /** Nobody in particular: `sluice`. */
    SenderId: string;
    /** The same as `SentTimestamp`: the first delivery's time is not kept. */
    ApproximateFirstReceiveTimestamp: string;
    /** The task's group, where it has one. */
    MessageGroupId?: string;
  };
  /** The task's headers, each as a `String`. */
  messageAttributes: Record<string, SqsMessageAttribute>;
  md5OfBody: string;
  eventSource: string;
  eventSourceARN: string;
  awsRegion: string;
}

export interface SqsMessageAttribute {
  stringValue: string;
  stringListValues: string[];
  binaryListValues: string[];
  dataType: string;
}

export interface SqsEvent {
  Records: SqsRecord[];
}

/** The second argument of a Lambda handler. */
export interface LambdaContext {
  /** Not regarded: a batch ends with its handler. */
  callbackWaitsForEmptyEventLoop: boolean;
  functionName: string;
  functionVersion: string;
  invokedFunctionArn: string;
  memoryLimitInMB: string;
  /** Another one for each batch. */
  awsRequestId: string;
  logGroupName: string;
  logStreamName: string;
  /** 0 when the drain wants the handler to stop. */
  getRemainingTimeInMillis(): number;
}

type Callback = (error?: unknown, response?: unknown) => void;

// Declared as a method: only so may a handler name the types of @types/aws-lambda for its parameters.
interface LambdaFunction {
  handler(event: SqsEvent, context: LambdaContext, callback: Callback): unknown;
}

/** A Lambda handler for SQS events: `SQSHandler` in @types/aws-lambda. */
export type SqsHandler = LambdaFunction["handler"];

export interface SqsOptions {
  /** The queue's name, for the ARN. */
  readonly queue: string;
  /** @default "us-east-1" */
  readonly awsRegion?: string | undefined;
  /** @default `arn:aws:sqs:<awsRegion>:000000000000:<queue>` */
  readonly eventSourceARN?: string | undefined;
  /** Whether `ReportBatchItemFailures` is on. Without it nothing of the handler's response is read. @default true */
  readonly reportBatchItemFailures?: boolean | undefined;
  /**
   * Before the next attempt of what failed; on SQS that is what is left of the visibility timeout.
   * @default true: exponential with full jitter, 1 s to 15 min
   */
  readonly backoff?: Backoff | true | undefined;
  /** How long the handler is told it has for each batch. @default "25s", as a drain's budget */
  readonly timeout?: Duration | undefined;
  /** Fields of the handler's `context`: the one of the invocation that drains, or part of it. */
  readonly context?: Partial<LambdaContext> | undefined;
}

/**
 * Lets `drainBatches` work with a Lambda function for SQS events as it is, async or with a callback:
 *
 * ```ts
 * await drainBatches(emails, sqs(handler, { queue: "emails" }), { budget: "25s" });
 * ```
 *
 * What becomes of the tasks, by "Handling errors for an SQS event source in Lambda":
 * - All are completed where the response is empty or null, or its `batchItemFailures` is missing, null or empty.
 * - Those named in `batchItemFailures` are requeued, the others completed.
 * - All are requeued where the handler fails, and where its response is no JSON object, its list no list, or an
 *   `itemIdentifier` of it missing, empty, null or not the `messageId` of a record. What the handler failed with is
 *   their error; a `NonRetryableError` or `RetryAfter` does what it does in `drain`.
 *
 * A handler of fewer than three parameters has ended when it returns, or when the promise that it returns does. One of
 * three, as Lambda has them up to Node 22, has ended with its callback or promise, and not before. Of `context` there
 * are none of `done`, `fail` and `succeed`. Dead letters are by the task's `maxAttempts`, not by a redrive policy.
 * Nothing here is first-in, first-out by group: what is requeued goes to the back.
 * @throws {SluiceError} `invalid_argument`
 */
export function sqs(handler: SqsHandler, options: SqsOptions): BatchHandler {
  if (typeof handler !== "function") {
    throw invalidArgument("handler", "must be a function");
  }
  onlyOptions(options, [
    "queue",
    "awsRegion",
    "eventSourceARN",
    "reportBatchItemFailures",
    "backoff",
    "timeout",
    "context",
  ]);
  const {
    awsRegion = "us-east-1",
    reportBatchItemFailures = true,
    backoff = true,
    timeout = "25s",
  } = options;
  const queue = queueName(options.queue);
  const { eventSourceARN = `arn:aws:sqs:${awsRegion}:000000000000:${queue}`, context } = options;
  const reported = trueOrFalse(reportBatchItemFailures, "reportBatchItemFailures");
  checkBackoff(backoff);
  const time = milliseconds(timeout, "timeout");

  const reportedAsFailed: TaskOutcome = {
    outcome: "requeue",
    backoff,
    error: "reported in batchItemFailures",
  };
  return async (tasks, signal) => {
    const source = { eventSource: "aws:sqs", eventSourceARN, awsRegion };
    const event = { Records: tasks.map((task) => ({ ...recordOf(task), ...source })) };
    try {
      const ended = await invoke(handler, event, contextOf(awsRegion, time, signal, context));
      const failures = reported ? failuresIn(ended, new Set(tasks.map(({ id }) => id))) : new Set();
      return tasks.map(({ id }) => (failures.has(id) ? reportedAsFailed : { outcome: "complete" }));
    } catch (error) {
      return tasks.map(() => outcomeOf(error, backoff));
    }
  };
}

function recordOf({ id, receipt, payload, attempt, enqueuedAt, headers = {}, group }: Task) {
  const body = bodyOf(payload);
  return {
    messageId: id,
    receiptHandle: receipt,
    body,
    attributes: {
      ApproximateReceiveCount: String(attempt),
      SentTimestamp: String(enqueuedAt),
      SenderId: "sluice",
      ApproximateFirstReceiveTimestamp: String(enqueuedAt),
      ...(group !== undefined && { MessageGroupId: group }),
    },
    messageAttributes: Object.fromEntries(
      Object.entries(headers).map(([name, stringValue]) => [
        name,
        { stringValue, stringListValues: [], binaryListValues: [], dataType: "String" },
      ]),
    ),
    md5OfBody: createHash("md5").update(body).digest("hex"),
  };
}

function bodyOf(payload: unknown): string {
  if (typeof payload === "string") return payload;
  return payload instanceof Uint8Array ? toBase64(payload) : JSON.stringify(payload);
}

function contextOf(
  awsRegion: string,
  timeout: number,
  signal: AbortSignal,
  given: Partial<LambdaContext> = {},
): LambdaContext {
  const { functionName = "sluice" } = given;
  const end = performance.now() + timeout;
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: `arn:aws:lambda:${awsRegion}:000000000000:function:${functionName}`,
    memoryLimitInMB: "128",
    awsRequestId: randomUUID(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: "",
    getRemainingTimeInMillis: () => (signal.aborted ? 0 : Math.max(0, Math.round(end - performance.now()))),
    ...given,
  };
}

/** What the handler answered, as JSON carries it to Lambda. */
async function invoke(handler: SqsHandler, event: SqsEvent, context: LambdaContext): Promise<unknown> {
  const response = await new Promise((resolve, reject) => {
    const returned = handler(event, context, (error, result) => {
      if (error === undefined || error === null) resolve(result);
      else reject(error);
    });
    const promised = typeof (returned as Partial<PromiseLike<unknown>> | undefined)?.then === "function";
    if (promised || handler.length < 3) resolve(returned);
  });
  return JSON.parse(JSON.stringify(response) ?? "null");
}

/** @throws where the response means that the whole batch failed */
function failuresIn(response: unknown, records: ReadonlySet<string>): ReadonlySet<unknown> {
  if (response === null) return new Set();
  if (typeof response !== "object" || Array.isArray(response)) throw malformed("it", "null or an object");
  const { batchItemFailures } = response as { batchItemFailures?: unknown };
  if (batchItemFailures === undefined || batchItemFailures === null) return new Set();
  if (!Array.isArray(batchItemFailures)) throw malformed("batchItemFailures", "null or an array");
  const ids = batchItemFailures.map(
    (failure: { itemIdentifier?: unknown } | null) => failure?.itemIdentifier,
  );
  const unknown = ids.findIndex((id) => typeof id !== "string" || !records.has(id));
  if (unknown >= 0) {
    throw malformed(`batchItemFailures[${unknown}].itemIdentifier`, "the messageId of a record");
  }
  return new Set(ids);
}

function malformed(path: string, allowed: string): TypeError {
  return new TypeError(`the handler's response is malformed: ${path} must be ${allowed}`);
}
