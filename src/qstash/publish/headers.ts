/** The `Upstash-*` headers of a request that publishes, read into a message. */
import { isOfConnection } from "../../features/push/index.ts";
import type { EnqueueOptions } from "../../kernel/options/types.ts";
import { badRequest, missing, WORKFLOW } from "../failure.ts";
import { MOST_COUNT, readDuration, readWhole } from "../durations.ts";
import type { Callback, FlowControl, Message } from "../message.ts";
import type { Due } from "../flow-control/needed.ts";
import { checkedExpression } from "./retry-delay.ts";

/** Headers with lower-case names. */
export type LowerHeaders = Readonly<Record<string, string>>;

/** What HTTP allows. A batch may have anything. */
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A message without its destination, and how to enqueue it. */
export interface Draft {
  readonly message: Omit<Message, "url">;
  readonly options: Due & Pick<EnqueueOptions, "maxAttempts">;
  /** The id that makes it unique, `true` if its content does. */
  readonly deduplication: string | true | undefined;
}

/** QStash's default. */
const RETRIES = 3;

/** Latest time, epoch seconds. */
const LATEST = 4_503_599_627_370;

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Reads the headers of a request that publishes.
 * @throws {Failure} 400 for an invalid header, 501 for one that means what the dialect does not have
 */
export function readHeaders(headers: LowerHeaders): Draft {
  checkMeant(headers);
  const of = (name: string) => headers[`upstash-${name}`] || undefined;
  const read = <T>(name: string, value: (text: string, header: string) => T) => {
    const text = of(name.toLowerCase());
    return text === undefined ? undefined : value(text.trim(), `Upstash-${name}`);
  };
  const retries = read("Retries", (text, name) => readWhole(text, name, 0, MOST_COUNT)) ?? RETRIES;
  const at = read("Not-Before", (text, name) => readWhole(text, name, 0, LATEST) * 1_000);
  const delay = read("Delay", readDuration);
  const isByContent = of("content-based-deduplication")?.toLowerCase() === "true";
  return {
    message: {
      method: readMethod(of("method")),
      headers: forwarded(headers),
      retries,
      retryDelay: read("Retry-Delay", checkedExpression),
      timeout: read("Timeout", readDuration) || undefined,
      callback: readCallback(headers, "callback"),
      failureCallback: readCallback(headers, "failure-callback"),
      labels: listed(of("label")),
      redact: readRedact(of("redact-fields")),
      flowControl: readFlowControl(headers),
      notBefore: at,
    },
    options: { maxAttempts: retries + 1, ...(at !== undefined ? { at } : delay !== undefined && { delay }) },
    deduplication: of("deduplication-id") ?? (isByContent ? true : undefined),
  };
}

/** A message that is published once, and not as its headers say, would be lost quietly. */
function checkMeant(headers: LowerHeaders): void {
  if (headers["upstash-cron"] !== undefined)
    throw badRequest("Upstash-Cron is for schedules: POST /v2/schedules/{destination}");
  if (headers["upstash-header-forward"] !== undefined)
    throw missing("the header upstash-header-forward", "name each header: Upstash-Forward-…");
  const ofWorkflow = Object.keys(headers).find((name) => name.startsWith("upstash-workflow-"));
  if (ofWorkflow !== undefined) throw missing(`the header ${ofWorkflow}`, WORKFLOW);
}

function readMethod(text = "POST"): string {
  const method = text.toUpperCase();
  if (METHODS.includes(method)) return method;
  throw badRequest(`invalid Upstash-Method: ${text}; it must be one of ${METHODS.join(", ")}`);
}

function forwarded(headers: LowerHeaders): LowerHeaders {
  const its: Record<string, string> = {};
  if (headers["content-type"]) its["content-type"] = headers["content-type"];
  for (const [name, value] of withPrefix(headers, "upstash-forward-"))
    if (!isOfConnection(name)) its[name] = value;
  for (const [name, value] of Object.entries(its)) {
    if (NAME.test(name) && VALUE.test(value)) continue;
    throw badRequest(`invalid header to forward: ${name}`);
  }
  return its;
}

/** A callback, with its headers as those of a request that publishes: `Upstash-Callback-Retries` is its `Upstash-Retries`. */
function readCallback(headers: LowerHeaders, name: "callback" | "failure-callback"): Callback | undefined {
  const url = headers[`upstash-${name}`];
  if (!url) return undefined;
  const own = withPrefix(headers, `upstash-${name}-`).map(
    ([rest, value]) => [`upstash-${rest}`, value] as const,
  );
  const callback = { url, headers: Object.fromEntries(own) };
  readHeaders(callback.headers);
  return callback;
}

const withPrefix = (headers: LowerHeaders, prefix: string) =>
  Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : [],
  );

function listed(text: string | undefined): readonly string[] | undefined {
  const all = text?.split(",").flatMap((one) => one.trim() || []) ?? [];
  return all.length > 0 ? all : undefined;
}

/** The fields in lower case. One that would hide nothing is refused. */
function readRedact(text: string | undefined): readonly string[] | undefined {
  const fields = listed(text?.toLowerCase());
  for (const field of fields ?? [])
    if (!/^(?:body|headers?|header\[[^\]]+\])$/.test(field))
      throw badRequest(
        `invalid Upstash-Redact-Fields: ${field}; it must be body, headers, or header[name], such as header[Authorization]`,
      );
  return fields;
}

function readFlowControl(headers: LowerHeaders): FlowControl | undefined {
  const key = headers["upstash-flow-control-key"];
  if (!key) return undefined;
  const value = headers["upstash-flow-control-value"] ?? "";
  if (!/^[A-Za-z0-9][!-~]{0,127}$/.test(key))
    throw badRequest(
      `invalid Upstash-Flow-Control-Key: ${key}; it must be 1 to 128 visible ASCII characters that begin with a letter or a digit`,
    );
  const limits = Object.fromEntries(
    value.split(",").map((one) => one.split("=", 2).map((part) => part.trim())),
  ) as {
    readonly [name: string]: string | undefined;
  };
  const name = "Upstash-Flow-Control-Value";
  const count = (text: string | undefined) =>
    text === undefined ? undefined : readWhole(text, name, 1, MOST_COUNT);
  const parallelism = count(limits["parallelism"]);
  const rate = count(limits["rate"] ?? limits["ratePerSecond"]);
  if (parallelism === undefined && rate === undefined)
    throw badRequest(
      `invalid ${name}: ${value}; it must have parallelism, rate or both, such as parallelism=5, rate=10, period=1m`,
    );
  const period = limits["period"] === undefined ? 1 : readPeriod(limits["period"], name);
  return { key, parallelism, rate, period: rate === undefined ? undefined : period };
}

/**
 * The period of a rate, in seconds.
 * @throws {Failure} 400
 */
export function readPeriod(text: string, name: string): number {
  const seconds = readDuration(text, name) / 1_000;
  if (seconds < 1) throw badRequest(`invalid ${name}: ${text}; the period must be at least 1s`);
  return seconds;
}
