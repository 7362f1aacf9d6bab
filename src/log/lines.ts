/**
 * All lines that a deployment logs, and a queue by itself: their level, and their fields, by which the documentation
 * lists them. None has a payload, a token or a secret. That of OpenTelemetry is in its folder.
 */
import { messageOf, SluiceError } from "../errors.ts";
import type { LogLine } from "./logger.ts";

export const drainBegan = (queue: string): LogLine => ["debug", { drain: queue, began: true }];

/** @param report of the drain */
export const drained = (queue: string, report: object): LogLine => ["info", { drain: queue, ...report }];

export const drainFailed = (queue: string, error: unknown): LogLine => [
  "error",
  { drain: queue, failed: messageOf(error) },
];

/** @param requests the limit of an invocation */
export const requestsUsed = (requests: number | undefined): LogLine => [
  "warn",
  {
    requests,
    note:
      "a drain ended because an invocation may send no more requests; other invocations go on. " +
      "If the plan of this account allows more, raise the limit: sluice({ requests: 1000 })",
  },
];

/** An attempt that failed, as its line has it. */
export interface AttemptFields {
  readonly queue: string;
  readonly task: string;
  readonly attempt: number;
  readonly failed: string;
  readonly ranFor: number;
  readonly next: string;
  readonly dueAt?: string | undefined;
  readonly stack?: string | undefined;
}

export const attemptFailed = (fields: AttemptFields): LogLine => ["warn", fields];

/** A dead letter, as its line has it. */
export interface DeadLetterFields {
  readonly queue: string;
  readonly task: string;
  readonly reason: string;
  readonly attempts: number;
  readonly error?: string | undefined;
  readonly stack?: string | undefined;
}

export const becameDeadLetter = ({ queue, task, ...why }: DeadLetterFields): LogLine => [
  "error",
  { queue, task, deadLetter: true, ...why },
];

/** @param hook its name */
export const hookFailed = (hook: string, queue: string, task: string, error: unknown): LogLine => [
  "error",
  { [hook]: queue, task, failed: messageOf(error) },
];

/** @param reason why it was disabled */
export const endpointDisabled = (endpoint: string, reason: string): LogLine => [
  "error",
  { endpoint, disabled: reason },
];

export const endpointHookFailed = (endpoint: string, error: unknown): LogLine => [
  "error",
  { onEndpointDisabled: endpoint, failed: messageOf(error) },
];

export const wakeFailed = (queue: string, error: unknown): LogLine => [
  "warn",
  { wake: queue, failed: messageOf(error) },
];

/** A process cannot subscribe to the wakes of others. It tries again, without a line, until it can. */
export const wakesNotHeard = (error: unknown): LogLine => [
  "warn",
  { wakes: "failed", failed: messageOf(error) },
];

/** A program listens to the events of a queue whose setting is off. */
export const publishesNoEvents = (queue: string): LogLine => [
  "warn",
  {
    queue,
    events: "off",
    note:
      "a program listens, but this queue publishes no events until its setting events is on: " +
      `sluice settings ${queue} events=on, or { events: true } in its declaration`,
  },
];

/** How many queues a note names. */
const MOST_NAMED = 5;

/**
 * The deployment's own code opens a queue that has no consumer there.
 * @param consumed the queues that have one
 */
export const noConsumerHere = (queue: string, consumed: readonly string[]): LogLine => [
  "warn",
  {
    queue,
    consumer: "none",
    note:
      `this deployment has no consumer for ${queue}; it has ${consumed.slice(0, MOST_NAMED).join(", ")}` +
      `${consumed.length > MOST_NAMED ? ", …" : ""}: a consumer elsewhere must work on it. ` +
      "If there is one, declare the queue: sluice({ queues: [ … ] })",
  },
];

/**
 * @param report of a sweep that has moved something
 * @param isRoutine whether it only promoted due tasks and deleted expired records
 */
export const swept = (report: object, isRoutine: boolean): LogLine => [
  isRoutine ? "debug" : "info",
  { sweep: report },
];

/** @param report of a sweep that failed for a queue */
export const sweepFailed = (report: object): LogLine => ["error", { sweep: report }];

/** A process that closes does not wait any longer. @param grace how long it has waited, ms */
export const graceOver = (grace: number): LogLine => [
  "warn",
  {
    closing: true,
    grace,
    note:
      "the grace is over: handlers that still run are aborted, and open requests are closed. No task is lost: it " +
      "comes back at the dueAt of its line, or, without one, when its lease expires",
  },
];

/** Cron in a process has failed. */
export const cronFailed = (error: unknown): LogLine => ["error", { cron: messageOf(error) }];

/** Cron cannot call a deployment that has consumers. */
export const cronSecretMissing = (): LogLine => [
  "warn",
  {
    cron: "refused",
    note:
      "CRON_SECRET is not set, so the sweep refuses the platform's cron: retries, delayed tasks and schedules " +
      "do not start. Set it to a random text of at least 16 characters",
  },
];

/** @param takesAway whether something was removed or switched off */
export const declarationApplied = (queue: string, changes: object, takesAway: boolean): LogLine => [
  takesAway ? "warn" : "info",
  { declared: queue, applied: true, ...changes },
];

/**
 * @param queue `all` if none could be applied
 * @param changes what was applied of it
 */
export const declarationFailed = (queue: string, failed: unknown, changes?: object): LogLine => [
  "error",
  { declared: queue, failed, ...changes },
];

/** @param objects how many were removed */
export const objectsRemoved = (objects: object): LogLine => ["info", { objects }];

/** @param objects how many were removed, and why not all */
export const objectsFailed = (objects: object): LogLine => ["error", { objects }];

/** An alert fires, or is resolved. @param alert the name of its rule */
export const alertChanged = (alert: string, queue: string, firing: boolean, text: string): LogLine =>
  firing
    ? ["error", { alert, queue, state: "firing", text }]
    : ["info", { alert, queue, state: "resolved", text }];

/** @param fields the rule, or `rules`, the queue, and what failed */
export const alertFailed = (fields: {
  readonly alert: string;
  readonly queue: string;
  readonly receiver?: string;
  readonly failed: string;
}): LogLine => ["error", fields];

export const alertsFailed = (error: unknown): LogLine => [
  "error",
  { alerts: "failed", failed: messageOf(error) },
];

export const misconfigured = (error: unknown): LogLine => ["error", { misconfigured: messageOf(error) }];

/** The deployment's own `fetch` has thrown, in a process. */
export const fetchFailed = (error: unknown): LogLine => [
  "error",
  {
    fetch: "failed",
    error: messageOf(error),
    stack: error instanceof Error ? error.stack : undefined,
  },
];

/** A failure of this server or of Redis, not of the caller. */
export interface LoggedError<Code extends string = string> {
  /** The `instance` in the response. */
  readonly instance: string;
  readonly code: Code;
  readonly method: string;
  /** Such as `/v1/queues/:queue/tasks`. */
  readonly route: string | undefined;
  readonly error: unknown;
}

/** The name of the error of a dashboard's `authorize` that fails. Its message is logged, as that of any hook. */
export const AUTHORIZE_ERROR = "AuthorizeError";

/**
 * A request has met such a failure. Of an error that is neither a {@link SluiceError} nor of `authorize`, the name and
 * the frames are logged, because its message may quote a payload.
 */
export const requestFailed = ({ error, ...rest }: LoggedError): LogLine => {
  const name = error instanceof Error ? error.name : typeof error;
  const mayShow = error instanceof SluiceError || name === AUTHORIZE_ERROR;
  return [
    "error",
    { ...rest, error: name, ...(mayShow ? { message: messageOf(error) } : { frames: frames(error) }) },
  ];
};

function frames(error: unknown): string[] | undefined {
  if (!(error instanceof Error)) return undefined;
  return error.stack
    ?.split("\n")
    .filter((text) => /^\s+at /.test(text))
    .slice(0, 8);
}
