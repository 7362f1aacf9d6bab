import { invalidArgument } from "../errors.ts";
import { milliseconds } from "../kernel/options/duration.ts";
import { checkedTracing } from "../features/tracing/types.ts";
import { onlyOptions, optionalFunction, wholeNumber } from "../kernel/options/validation.ts";
import { logTo } from "../log/log-to.ts";
import { checkedConsumers } from "./consumers/checked-consumers.ts";
import type { QueueConsumer } from "./declared/define-queue.ts";
import { Declarations } from "./declarations.ts";
import { optionalParts } from "./optional-parts.ts";
import { SERVICE_OPTIONS, type Platform, type ServiceOptions } from "./options.ts";

/** The least limit of requests with which an invocation sweeps, drains, wakes another one and evaluates alerts. */
const LEAST_REQUESTS = 30;

/** The options of a deployment, checked, and what they say without its environment. */
export type CheckedOptions<Env extends object> = ReturnType<typeof checkedOptions<Env>>;

/**
 * Checks all of the options of a deployment that needs no environment, also its consumers and declared schedules. So
 * what is wrong fails the import of the module that calls `sluice()`, such as in a build, and not each request.
 * @throws {SluiceError} `invalid_argument`, or `too_large` for the payload of a schedule
 */
export function checkedOptions<Env extends object>(
  options: ServiceOptions<Env>,
  platform: Pick<Platform, "budget" | "requests" | "onDemand">,
) {
  onlyOptions(options, SERVICE_OPTIONS);
  const { consumers = {}, queues = [], alerts } = options;
  for (const name of ["fetch", "onDeadLetter", "onFailure", "wake", "offload"] as const) {
    optionalFunction<unknown>(options[name], name);
  }
  logTo(options.logger);
  if (alerts !== undefined && typeof alerts?.connect !== "function") {
    throw invalidArgument("alerts", "must be what defineAlerts of sluice-queue/alerts returns");
  }
  const tracing = checkedTracing(options.tracing);
  const parts = optionalParts(options, platform.onDemand);
  const added = parts.parts.flatMap((part) => (part.consumers ?? []) as readonly QueueConsumer<Env>[]);
  const budget = milliseconds(options.budget ?? platform.budget, "budget", { min: 1_000 });
  const requests = options.requests ?? platform.requests;
  if (requests !== undefined) wholeNumber(requests, "requests", LEAST_REQUESTS, Number.MAX_SAFE_INTEGER);
  /** How many hooks of the deployment's own are called for a failed task. */
  const hooks = (options.onFailure ? 1 : 0) + (options.onDeadLetter ? 1 : 0);
  return {
    options,
    tracing,
    parts,
    /** How long one invocation may work, ms. */
    budget,
    /** Most requests of one invocation. */
    requests,
    hooks,
    /** By the names of their queues. */
    consumers: checkedConsumers(consumers, added, { budget, requests, hooks }),
    declared: new Declarations(consumers, queues, parts),
  };
}
