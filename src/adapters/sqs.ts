import { createHash, randomUUID } from "node:crypto";
import { invalidArgument } from "../errors.ts";
import { toBase64 } from "../base64.ts";
import { type Backoff, checkBackoff } from "../kernel/options/backoff.ts";
import { milliseconds, type Duration } from "../kernel/options/duration.ts";
import { onlyOptions, queueName, trueOrFalse } from "../kernel/options/validation.ts";
import type { BatchHandler, Task, TaskOutcome } from "../drain/types.ts";
import { outcomeOf } from "../drain/failed-attempt.ts";

/** A task as Lambda passes an SQS message to a function. */
export interface SqsRecord {
  /** The task's id. */
  messageId: string;
  /** The task's receipt. */
  receiptHandle: string;
  /** The payload: a string unchanged, bytes in base64, anything else as JSON. */
  body: string;
  attributes: {
    /** Delivery number, from 1. */
    ApproximateReceiveCount: string;
    /** When the task was enqueued, epoch ms. */
    SentTimestamp: string;
    /** Always `sluice`. */
    SenderId: string;
    /** The same as `SentTimestamp`: the time of the first delivery is not stored. */
    ApproximateFirstReceiveTimestamp: string;
    /** The task's group, if it has one. */
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
  /** Has no effect: a batch ends with its handler. */
  callbackWaitsForEmptyEventLoop: boolean;
  functionName: string;
  functionVersion: string;
  invokedFunctionArn: string;
  memoryLimitInMB: string;
  /** Unique for each batch. */
  awsRequestId: string;
  logGroupName: string;
  logStreamName: string;
  /** 0 when the drain wants the handler to stop. */
  getRemainingTimeInMillis(): number;
}

type Callback = (error?: unknown, response?: unknown) => void;

// A method, so that a handler may declare the types of @types/aws-lambda for its parameters.
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
  /** Whether `ReportBatchItemFailures` is on. If not, the handler's response is ignored. @default true */
  readonly reportBatchItemFailures?: boolean | undefined;
  /**
   * The delay before the next attempt of failed tasks. On SQS that is the rest of the visibility timeout.
   * @default true: 10 s, 30 s, 90 s, … up to 1 h, each jittered between half and full
   */
  readonly backoff?: Backoff | true | undefined;
  /** The initial value of `getRemainingTimeInMillis()` for each batch. @default "25s", as a drain's budget */
  readonly timeout?: Duration | undefined;
  /** Fields of the handler's `context`, such as the context of the invocation that drains. */
  readonly context?: Partial<LambdaContext> | undefined;
}

/**
 * Runs an unchanged Lambda function for SQS events, async or with a callback, with `drainBatches`.
 *
 * Outcomes follow "Handling errors for an SQS event source in Lambda":
 * - All tasks are completed if the response is empty or null, or its `batchItemFailures` is missing, null or
 *   empty.
 * - The tasks listed in `batchItemFailures` are requeued, and the others completed.
 * - All tasks are requeued if the handler fails, with its error. A `NonRetryableError` or `RetryAfter` has
 *   the same effect as in `drain`.
 * - All tasks are requeued if the response is malformed: not a JSON object, `batchItemFailures` not an array,
 *   or an `itemIdentifier` that is missing, empty, null or not the `messageId` of a record.
 *
 * A handler with fewer than three parameters ends when it returns, or when the promise that it returns
 * settles. A handler with three parameters, which Lambda supports up to Node 22, ends with its callback or
 * promise. Its `context` lacks `done`, `fail` and `succeed`. A task becomes a dead letter by its
 * `maxAttempts`, not by a redrive policy. Groups are not first-in, first-out: requeued tasks go to the back.
 * @param handler the function
 * @param options.queue the queue's name, for the ARN
 * @param options.backoff the delay before the next attempt. Default: 10 s, 30 s, 90 s, … up to 1 h, each
 *   jittered between half and full
 * @param options.timeout the initial value of `getRemainingTimeInMillis()`. Default: "25s"
 * @returns a handler for `drainBatches`
 * @throws {SluiceError} `invalid_argument`
 * @example
 * await drainBatches(emails, sqs(handler, { queue: "emails" }), { budget: "25s" });
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
  const readsFailures = trueOrFalse(reportBatchItemFailures, "reportBatchItemFailures");
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
      const response = await invoke(handler, event, contextOf(awsRegion, time, signal, context));
      const failures = readsFailures ? failuresIn(response, new Set(tasks.map(({ id }) => id))) : new Set();
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

/** The handler's response, as JSON carries it to Lambda. */
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

/**
 * The ids of the failed tasks in a response.
 * @throws {TypeError} if the response is malformed; then the whole batch has failed
 */
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
