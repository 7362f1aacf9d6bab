import { messageOf, SluiceError } from "../../errors.ts";
import type { DeadLetter } from "../../kernel/record/dead-letter.ts";
import { signedHeaders, signingKey } from "../../signature.ts";
import { callBack, isLastAttempt, reportLost } from "./callbacks.ts";
import { checkedPush, type CheckedPush, checkedSecrets, type PushOptions } from "./options.ts";
import { DeliveryError } from "./failure.ts";
import { joinedHeaders } from "./request.ts";
import { retryAfterOf } from "./retry-after.ts";
import { sendTo } from "./send.ts";
import type {
  Delivered,
  DeliveryOutcome,
  Endpoint,
  EndpointSource,
  OutgoingRequest,
  PushContext,
  PushTask,
  PushTools,
} from "./types.ts";

/** The result of a task that was delivered. */
export type PushResult = Pick<Delivered, "status" | "body" | "truncated">;

/** Delivers one task. `env` and `tools` are those of a deployment; `drain` has none. */
export interface PushHandler<T = unknown, Env = unknown, Tools = PushTools> {
  (task: PushTask<T>): Promise<PushResult>;
  (task: PushTask<T>, env: Env, tools: Tools): Promise<PushResult>;
  /**
   * Adds the task of `failureCallback` for an attempt that could not add it: it was lost with its process, or stopped.
   * A deployment calls it with the dead letters of the consumer's queue.
   */
  readonly onDeadLetter?: ((letter: DeadLetter, tools: Tools) => Promise<void>) | undefined;
}

const DEFAULT_HEADERS = { "content-type": "application/json", "user-agent": "sluice-queue" };

/** The most characters of a body in the error of a task. */
const QUOTED = 200;

/**
 * Makes a handler that delivers each task as a POST to a URL, with the task's id as `webhook-id`. A response of 2xx
 * completes the task; its status, and the first 4 KB of its body, are the result. Otherwise the task is tried again:
 * after `Retry-After` if the response has it, else after the queue's backoff.
 * @throws {SluiceError} `invalid_argument`
 * @example
 * const deliveries = defineQueue<Order>("deliveries", { backoff: ["5s", "5m", "30m", "2h"] });
 * export default sluice({
 *   consumers: [deliveries.consumer(push({ url: "https://example.com/hook", secret: (env: Env) => env.SECRET }))],
 * });
 */
export function push<T = unknown, Env extends object = object, Tools extends PushTools = PushTools>(
  options: PushOptions<T, Env, Tools>,
): PushHandler<T, Env, Tools> {
  const checked = checkedPush(options);
  const source = options.endpoints ?? ofUrl(options);
  const handler: PushHandler<T, Env, Tools> = (task: PushTask<T>, env?: Env, tools?: Tools) =>
    deliver({ options, checked, source, task, env: env as Env, tools: tools as Tools });
  const { failureCallback } = options;
  if (failureCallback === undefined) return handler;
  const onDeadLetter = (letter: DeadLetter, tools: Tools) => reportLost(failureCallback, letter, tools);
  return Object.assign(handler, { onDeadLetter });
}

interface Delivery<T, Env, Tools> extends PushContext<T, Env, Tools> {
  readonly options: PushOptions<T, Env, Tools>;
  readonly checked: CheckedPush;
  readonly source: EndpointSource<T, Env, Tools>;
}

/** The endpoints of `url`: one, or one for each task. */
function ofUrl<T, Env, Tools>({ url }: PushOptions<T, Env, Tools>): EndpointSource<T, Env, Tools> {
  return {
    async find({ task, env }) {
      return { url: typeof url === "function" ? await url(task, env) : (url as string) };
    },
  };
}

async function deliver<T, Env, Tools extends PushTools>(
  delivery: Delivery<T, Env, Tools>,
): Promise<PushResult> {
  const { options, task, tools } = delivery;
  const { callback, failureCallback, queue } = options;
  let response: Delivered | undefined;
  try {
    response = await request(delivery);
    await settle(delivery, response);
  } catch (error) {
    // A task that was stopped goes on elsewhere, or later.
    if (failureCallback === undefined || task.signal.aborted) throw error;
    const { name, count, cause } = Object(error) as { name?: unknown; count?: unknown; cause?: unknown };
    const isLast =
      name === "NonRetryableError" ||
      (count !== false && queue !== undefined && (await isLastAttempt(queue, task, tools)));
    if (!isLast) throw error;
    const reason = messageOf(name === "RetryAfter" ? (cause ?? error) : error);
    await callBack(failureCallback, task, tools, {
      kind: "failed",
      status: response?.status,
      body: response?.body,
      error: reason,
    });
    throw error;
  }
  const { status, body, truncated } = response;
  if (callback !== undefined) await callBack(callback, task, tools, { kind: "callback", status, body });
  return { status, body, truncated };
}

/** Sends the request of a task to its endpoint. */
async function request<T, Env, Tools>(delivery: Delivery<T, Env, Tools>): Promise<Delivered> {
  const { source, task } = delivery;
  const endpoint = await source.find(delivery);
  if (!endpoint) throw final("the task has no endpoint");
  const { disabled = false } = endpoint;
  if (disabled !== false) throw final(disabled === true ? "the endpoint is disabled" : disabled);
  const outgoing = await signed(delivery, endpoint);
  try {
    return await sendTo(outgoing, delivery.checked.policy);
  } catch (error) {
    // Another attempt would go to the same URL.
    const isRefused = error instanceof SluiceError && error.path === "url";
    // What is wrong with the request itself is no failure of the endpoint.
    if (task.signal.aborted || !(isRefused || error instanceof DeliveryError)) throw error;
    await report(delivery, { ok: false, error: error.message, gone: false });
    throw isRefused ? final(error.message) : error;
  }
}

/** The request of a task, signed. */
async function signed<T, Env, Tools>(
  { options, task, env }: Delivery<T, Env, Tools>,
  endpoint: Endpoint,
): Promise<OutgoingRequest> {
  const { headers, body: bodyOf = json, timeout } = options;
  const body: unknown = bodyOf(task);
  if (typeof body !== "string") throw final("the option body must return a text");
  const keys = await Promise.all(
    (endpoint.secrets ?? secretsOf(options, env, task)).map((one) => signingKey(one)),
  );
  const { "webhook-signature": signature, ...named } = await signedHeaders(keys, task.id, body);
  return {
    url: endpoint.url,
    body,
    timeout,
    signal: task.signal,
    headers: joinedHeaders(
      DEFAULT_HEADERS,
      typeof headers === "function" ? headers(env, task) : headers,
      endpoint.headers,
      named,
      keys.length > 0 ? { "webhook-signature": signature as string } : undefined,
    ),
  };
}

/** @throws {SluiceError} for a secret that the environment lacks: nothing is sent unsigned by mistake */
function secretsOf<T, Env, Tools>(
  { secret }: PushOptions<T, Env, Tools>,
  env: Env,
  task: PushTask<T>,
): readonly string[] {
  if (secret === undefined) return [];
  return checkedSecrets(typeof secret === "function" ? secret(env, task) : secret);
}

/** Reports a response, and throws unless it completes the task. */
async function settle<T, Env, Tools>(delivery: Delivery<T, Env, Tools>, response: Delivered): Promise<void> {
  const { status, headers } = response;
  const { givesUpOn, longestRetryAfter } = delivery.checked;
  const ok = status >= 200 && status < 300;
  const gone = status === 410 || headers.get("webhook-delivery")?.trim().toLowerCase() === "disable";
  const error = ok ? undefined : reasonOf(response);
  const retryAfter = ok ? undefined : retryAfterOf(headers.get("retry-after"), longestRetryAfter);
  await report(delivery, { ok, status, error, gone, retryAfter });
  if (error === undefined) return;
  if (gone || givesUpOn(status)) throw final(error);
  if (retryAfter === undefined) throw new Error(error);
  const asked = new Error(`retry after ${retryAfter} ms`, { cause: new Error(error) });
  throw Object.assign(asked, { name: "RetryAfter", delay: retryAfter, count: true });
}

async function report<T, Env, Tools>(
  { source, task, env, tools }: Delivery<T, Env, Tools>,
  outcome: DeliveryOutcome,
): Promise<void> {
  await source.report?.(outcome, { task, env, tools });
}

function reasonOf({ status, body }: Delivered): string {
  if (status === 0 || (status >= 300 && status < 400)) return `HTTP ${status}: redirects are not followed`;
  const quoted = body.slice(0, QUOTED).trim();
  return quoted === "" ? `HTTP ${status}` : `HTTP ${status}: ${quoted}`;
}

function json({ payload }: PushTask): string {
  if (payload instanceof Uint8Array) throw final("a payload of bytes needs the option body");
  return JSON.stringify(payload) ?? "null";
}

/** An error after which there is no other attempt. Drains know it by its name. */
function final(message: string): Error {
  return Object.assign(new Error(message), { name: "NonRetryableError" });
}
