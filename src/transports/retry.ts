import { invalidArgument, SluiceError } from "../errors.ts";
import { causedBy, defaultPolicy, retry, type RetriedRequest, type RetryPolicy } from "../retry.ts";
import { LONGEST_TIMER } from "../sleep.ts";

/**
 * How long and how often a transport resends a request that may yet succeed. All times are in milliseconds.
 */
export interface RetryOptions {
  /** Longest time for all tries of one request, with the waits between them. @default 10_000 */
  readonly deadline?: number | undefined;
  /** Longest time for one try; it never exceeds the deadline. @default 5_000 */
  readonly tryTimeout?: number | undefined;
  /** Most tries of one request; with 1 it is never resent. @default as many as the deadline allows */
  readonly tries?: number | undefined;
  /** Upper bound of the wait after the first try; it doubles with each further try. @default 50 */
  readonly firstWait?: number | undefined;
  /** Upper bound of every wait. @default 1_000 */
  readonly longestWait?: number | undefined;
}

const counts = { unit: "tries", least: 1, most: Number.MAX_SAFE_INTEGER };
const waits = { unit: "milliseconds", least: 0, most: LONGEST_TIMER };
const limits = { unit: "milliseconds", least: 1, most: LONGEST_TIMER };

/** @throws {SluiceError} `invalid_argument` if an option is unknown or out of its bounds */
export function retryPolicy(options: RetryOptions = {}): RetryPolicy {
  const policy: { -readonly [name in keyof RetryPolicy]: number } = { ...defaultPolicy };
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const path = `retry.${name}`;
    if (!isOption(name)) {
      const known = Object.keys(defaultPolicy).join(", ");
      throw invalidArgument(path, `is an unknown option; expected one of ${known}`);
    }
    const { unit, least, most } = name === "tries" ? counts : name.endsWith("Wait") ? waits : limits;
    if (typeof value !== "number" || !(value >= least && value <= most)) {
      throw invalidArgument(path, `must be a number of ${unit} from ${least} to ${most}`);
    }
    policy[name] = value;
  }
  return policy;
}

function isOption(name: string): name is keyof RetryPolicy {
  return Object.hasOwn(defaultPolicy, name);
}

/**
 * {@link retry} of a request to Redis.
 * @throws {SluiceError} `redis_unreachable` when the deadline or the number of tries is used up; as {@link
 *   retry}
 */
export function retryRedis<T>(request: Omit<RetriedRequest<T>, "giveUp">): Promise<T> {
  return retry({ ...request, giveUp });
}

function giveUp(last: Error, effort: string): SluiceError {
  const text = `Redis gave no useful answer in ${effort}; the last time: ${last.message}`;
  return causedBy(last, new SluiceError("redis_unreachable", text));
}
