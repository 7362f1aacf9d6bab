import { type Config, type Environment, readConfig } from "../config.ts";
import { webhookWaker, type Waker } from "../features/waking/index.ts";
import { invalidArgument } from "../errors.ts";
import { linkedIfNeeded } from "../open/linked-part.ts";
import type { CheckedOptions } from "./checked-options.ts";
import { ObjectStores } from "./object-stores.ts";
import type { Platform } from "./options.ts";
import { cronSecretMissing } from "../log/lines.ts";
import { logTo } from "../log/log-to.ts";

/** How long an invocation waits for the next task by default, ms. */
const MAX_IDLE = 5_000;

/** What a deployment is made of: its checked options, and what its environment connects it with. */
export type Setup<Env extends object> = ReturnType<typeof setUp<Env>>;

/**
 * Reads the environment of a deployment.
 * @param checked its options
 * @throws {SluiceError} `invalid_argument` if the environment is incomplete or invalid
 */
export function setUp<Env extends object>(env: Env, checked: CheckedOptions<Env>, platform: Platform) {
  const { options, tracing } = checked;
  const lines = logTo(options.logger, platform.logger);
  const log = platform.log?.(lines) ?? lines;
  const stores = new ObjectStores(options.offload?.(env), platform.offload);
  tracing?.logTo(log);
  const alerts = options.alerts?.connect(env);
  const config = readConfig(env as Environment);
  if (platform.cronIsRequest && config.cronSecrets.length === 0 && checked.consumers.size > 0)
    log(cronSecretMissing());
  const transport = linkedIfNeeded(checked.parts, platform.transport(config.redis));
  // Also if the option replaces it, because a process then still listens to those beside it.
  const beside = platform.wake?.(config, transport);
  return {
    ...checked,
    env,
    platform,
    config,
    transport,
    stores,
    alerts,
    /** Whether it is a long-running process. */
    isProcess: platform.afterResponse === "any",
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
