import { invalidArgument } from "../../errors.ts";
import { milliseconds, type Duration } from "../../kernel/options/duration.ts";
import { listOf, onlyOptions, optionalFunction, wholeNumber } from "../../kernel/options/validation.ts";
import { isSigningSecret, SECRET_FORM } from "../../signature.ts";
import { pick } from "../../pick.ts";
import { checkedHeaders } from "./request.ts";
import { checkedTarget, checkPolicy, hostOf, POLICY_OPTIONS } from "./policy.ts";
import { checkRuntime } from "./send.ts";
import type { EndpointSource, PushTask, PushTools, UrlPolicy } from "./types.ts";

/** A queue by its declaration, or by its name in the deployment. */
export type QueueOfPush = string | { readonly name: string; readonly options: object };

/** Headers by their names. */
export type HeaderRecord = Readonly<Record<string, string>>;

export interface PushOptions<T = unknown, Env = unknown, Tools = PushTools> extends UrlPolicy {
  /** Where all tasks go; or a function that returns where a task goes, which needs `allow`. */
  readonly url?: string | ((task: PushTask<T>, env: Env) => string | Promise<string>) | undefined;
  /** In place of `url`: finds the endpoint of each task, and gets the outcome of each request. */
  readonly endpoints?: EndpointSource<T, Env, Tools> | undefined;
  /**
   * Signs the requests as Standard Webhooks specifies: `whsec_` followed by 24 to 64 bytes in base64. Of several, such
   * as an old one and its successor, each signs. To make one: `echo whsec_$(openssl rand -base64 32)`.
   * @default not signed, except with the secrets of an endpoint
   */
  readonly secret?:
    | string
    | readonly string[]
    | ((env: Env, task: PushTask<T>) => string | readonly string[])
    | undefined;
  /** Headers of the requests. @default `content-type: application/json` and `user-agent: sluice-queue` */
  readonly headers?: HeaderRecord | ((env: Env, task: PushTask<T>) => HeaderRecord) | undefined;
  /** Makes the body. @default the payload as JSON */
  readonly body?: ((task: PushTask<T>) => string) | undefined;
  /** How long a request may take, "1ms" to "15m". @default "30s" */
  readonly timeout?: Duration | undefined;
  /** The longest `Retry-After` that is obeyed. A longer one counts as this. @default "1d" */
  readonly longestRetryAfter?: Duration | undefined;
  /**
   * The statuses 4xx after which a task is not tried again, but becomes a dead letter at once; "4xx" is
   * all of them except 408, 425 and 429. 410 is always one.
   * @default only 410
   */
  readonly giveUpOn?: readonly number[] | "4xx" | undefined;
  /**
   * A queue of the deployment that gets a task for each delivery that succeeded, with a {@link PushReport} as payload
   * and the id `<id of the delivery>.callback`.
   * @default none
   */
  readonly callback?: QueueOfPush | undefined;
  /** As `callback`, for each delivery that became a dead letter; `<id>.failed.<attempt>`. It needs `queue`. @default none */
  readonly failureCallback?: QueueOfPush | undefined;
  /** The queue whose tasks are delivered. Needed with `failureCallback`, which asks it for a task's last attempt. */
  readonly queue?: QueueOfPush | undefined;
}

/** What a callback gets of a delivery. */
export interface PushReport {
  /** The id of the delivery's task. */
  readonly id: string;
  readonly group?: string | undefined;
  readonly headers?: HeaderRecord | undefined;
  /** Which attempt it was, from 1. */
  readonly attempt: number;
  /** The status of the response, and the first 4 KB of its body; absent if there was none. */
  readonly status?: number | undefined;
  readonly body?: string | undefined;
  /** Why it failed; absent if it succeeded. */
  readonly error?: string | undefined;
}

/** Options of push, checked. */
export interface CheckedPush {
  readonly policy: UrlPolicy;
  readonly longestRetryAfter: number;
  readonly givesUpOn: (status: number) => boolean;
}

const OWN_OPTIONS = [
  "url",
  "endpoints",
  "secret",
  "headers",
  "body",
  "timeout",
  "longestRetryAfter",
  "giveUpOn",
  "callback",
  "failureCallback",
  "queue",
] as const satisfies readonly (keyof PushOptions)[];

/** The most secrets that sign a delivery. */
const MOST_SECRETS = 5;

/** Refusals that pass with time: the receiver is too slow, too early, or asked too often. */
const PASSING: readonly number[] = [408, 425, 429];

/** @throws {SluiceError} `invalid_argument` */
export function checkedPush<T, Env, Tools>(options: PushOptions<T, Env, Tools>): CheckedPush {
  const at = "push.";
  onlyOptions(options, [...OWN_OPTIONS, ...POLICY_OPTIONS], at);
  const { url, endpoints, secret, headers, timeout = "30s", longestRetryAfter = "1d", giveUpOn } = options;
  const given: UrlPolicy = pick(options, POLICY_OPTIONS);
  checkPolicy(given, at);
  if ((url === undefined) === (endpoints === undefined)) {
    throw invalidArgument(`${at}url`, "or endpoints must be given, and not both");
  }
  if (endpoints !== undefined && typeof endpoints?.find !== "function") {
    throw invalidArgument(`${at}endpoints`, "must have a function find");
  }
  if (typeof url === "function" && !given.allow) {
    throw invalidArgument(`${at}allow`, "must list the hosts that a task's URL may have");
  }
  if (typeof secret !== "function" && secret !== undefined) checkedSecrets(secret, `${at}secret`);
  if (typeof headers !== "function" && headers !== undefined) checkedHeaders(headers, `${at}headers`);
  optionalFunction(options.body, `${at}body`);
  milliseconds(timeout, `${at}timeout`, { min: 1, max: 900_000 });
  for (const name of ["callback", "failureCallback", "queue"] as const) checkQueue(options[name], at + name);
  if (options.failureCallback !== undefined && options.queue === undefined) {
    throw invalidArgument(`${at}queue`, "must be the queue of the deliveries, with failureCallback");
  }
  const policy =
    typeof url === "string" ? { allow: [hostOf(checkedTarget(url, given, `${at}url`))], ...given } : given;
  checkRuntime(policy, at);
  return {
    policy,
    longestRetryAfter: milliseconds(longestRetryAfter, `${at}longestRetryAfter`),
    givesUpOn: checkedStatuses(giveUpOn, `${at}giveUpOn`),
  };
}

/** @throws {SluiceError} `invalid_argument` */
export function checkedSecrets(given: string | readonly string[], path = "secret"): readonly string[] {
  const secrets = [given].flat() as readonly string[];
  if (secrets.length >= 1 && secrets.length <= MOST_SECRETS && secrets.every(isSigningSecret)) return secrets;
  throw invalidArgument(path, `${SECRET_FORM}, or up to ${MOST_SECRETS} of them`);
}

function checkedStatuses(given: PushOptions["giveUpOn"] = [], path: string): CheckedPush["givesUpOn"] {
  const is4xx = (status: number) => status >= 400 && status < 500;
  if (given === "4xx") return (status) => is4xx(status) && !PASSING.includes(status);
  listOf(given, path, 100);
  for (const [i, status] of given.entries()) wholeNumber(status, `${path}[${i}]`, 400, 499);
  return (status) => status === 410 || given.includes(status);
}

function checkQueue(queue: unknown, path: string): void {
  const { name = queue } = Object(queue) as { name?: unknown };
  if (queue === undefined || typeof name === "string") return;
  throw invalidArgument(path, "must be a declared queue, or the name of one");
}
