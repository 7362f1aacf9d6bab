import { type Config, type Environment, readConfig } from "../config.ts";
import { webhookWaker, type Waker } from "../features/waking/index.ts";
import { invalidArgument } from "../errors.ts";
import { milliseconds } from "../kernel/options/duration.ts";
import { checkedTracing } from "../features/tracing/types.ts";
import { onlyOptions, optionalFunction, wholeNumber } from "../kernel/options/validation.ts";
import { connectedAlerts } from "./connected-alerts.ts";
import { ObjectStores } from "./object-stores.ts";
import { optionalParts } from "./optional-parts.ts";
import { SERVICE_OPTIONS, type Platform, type ServiceOptions } from "./options.ts";
import { logTo } from "../log/log-to.ts";

/** The least limit of requests with which an invocation sweeps, drains, wakes another one and evaluates alerts. */
const LEAST_REQUESTS = 30;

/** How long an invocation waits for the next task by default, ms. */
const MAX_IDLE = 5_000;

/** What a deployment is made of: its checked options, and what its environment connects it with. */
export type Setup<Env extends object> = ReturnType<typeof setUp<Env>>;

/**
 * Reads the environment of a deployment, and checks its options.
 * @throws {SluiceError} `invalid_argument` if the environment is incomplete or invalid, or for an invalid option
 */
export function setUp<Env extends object>(env: Env, options: ServiceOptions<Env>, platform: Platform) {
  onlyOptions(options, SERVICE_OPTIONS);
  optionalFunction(options.fetch, "fetch");
  optionalFunction(options.onDeadLetter, "onDeadLetter");
  optionalFunction(options.onFailure, "onFailure");
  optionalFunction(options.wake, "wake");
  const lines = logTo(options.logger, platform.logger);
  const log = platform.log?.(lines) ?? lines;
  const stores = new ObjectStores(optionalFunction(options.offload, "offload")?.(env), platform.offload);
  const tracing = checkedTracing(options.tracing);
  tracing?.logTo(log);
  const alerts = connectedAlerts(options.alerts, env);
  const parts = optionalParts(options, platform.onDemand);
  const config = readConfig(env as Environment);
  const transport = platform.transport(config.redis);
  // Also if the option replaces it, because a process then still listens to those beside it.
  const beside = platform.wake?.(config, transport);
  const budget = milliseconds(options.budget ?? platform.budget, "budget", { min: 1_000 });
  const requests = options.requests ?? platform.requests;
  if (requests !== undefined) wholeNumber(requests, "requests", LEAST_REQUESTS, Number.MAX_SAFE_INTEGER);
  return {
    env,
    options,
    platform,
    config,
    transport,
    stores,
    tracing,
    alerts,
    parts,
    /** How long one invocation may work, ms. */
    budget,
    /** Most requests of one invocation. */
    requests,
    /** Whether it is a long-running process. */
    isProcess: platform.afterResponse === "any",
    /** How many hooks of the deployment's own are called for a failed task. */
    hooks: (options.onFailure ? 1 : 0) + (options.onDeadLetter ? 1 : 0),
    /**
     * An invocation with an empty queue waits for the next task if it is due within this time, ms. So a retry need
     * not wait for the next cron. Waiting costs no command. A process sets an alarm instead.
     */
    maxIdle: platform.maxIdle ?? MAX_IDLE,
    alarms: platform.alarms?.(config.prefix),
    remote: {
      byUrl: urlWaker(config, platform),
      byName: options.wake?.({ ...transport, prefix: config.prefix }, env) ?? beside,
    },
    /** Writes a line as the option `logger` says. */
    log,
  };
}

/**
 * The waker of the deployment at the wake URL, or at a binding.
 * @throws {SluiceError} `invalid_argument` if a binding to wake has no secret
 */
export function urlWaker(
  { wakeUrl, wakeSecrets: [secret] }: Config,
  { wakeFetch, wakeTimeout }: Pick<Platform, "wakeFetch" | "wakeTimeout">,
): Waker | undefined {
  if (wakeFetch && !secret) {
    throw invalidArgument("SLUICE_WAKE_SECRET", "must be set, because the binding SLUICE_CONSUMER is set");
  }
  const url = wakeUrl ?? (wakeFetch && "https://consumer/wake");
  return url && secret ? webhookWaker({ url, secret, fetch: wakeFetch, timeout: wakeTimeout }) : undefined;
}
