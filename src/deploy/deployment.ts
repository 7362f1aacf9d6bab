import type { Config, Environment } from "../config.ts";
import { SluiceError } from "../errors.ts";
import type { WaitUntil } from "./declared/tools.ts";
import { configErrorResponse } from "../http/problems/config-error.ts";
import type { Transport } from "../kernel/transport.ts";
import { upstash } from "../transports/upstash.ts";
import { misconfigured } from "../log/lines.ts";
import type { Log } from "../log/logger.ts";
import { logTo } from "../log/log-to.ts";
import { type CheckedOptions, checkedOptions } from "./checked-options.ts";
import type { Platform, ServiceOptions } from "./options.ts";
import { ownContext } from "./own-context.ts";
import { Service } from "./service.ts";

/** Creates a deployment's service at its first use, when the environment is known. */
export class Deployment<Env extends object = Environment> {
  /** Writes a line as the option `logger` says. */
  readonly log: Log;
  readonly #options: CheckedOptions<Env>;
  readonly #platform: Platform;
  readonly #inEnv: ((env: Env) => Partial<Platform> | undefined) | undefined;
  readonly #inOwnContext = ownContext();
  #service: Service<Env> | undefined;

  /**
   * @param inEnv what of the platform depends on the environment
   * @throws {SluiceError} `invalid_argument` for an invalid option
   */
  constructor(
    options: ServiceOptions<Env>,
    platform: Platform,
    inEnv?: (env: Env) => Partial<Platform> | undefined,
  ) {
    this.#options = checkedOptions(options, platform);
    this.log = logTo(options.logger);
    this.#platform = platform;
    this.#inEnv = inEnv;
  }

  /** @throws {SluiceError} `invalid_argument` if the environment is incomplete or invalid */
  service(env: Env): Service<Env> {
    return (this.#service ??= this.#inOwnContext(() => {
      const own = this.#inEnv?.(env);
      const platform = own ? { ...this.#platform, ...own } : this.#platform;
      return new Service(env, this.#options.options, platform, this.#options);
    }));
  }

  /** As that of the service, if it was created. */
  close(): void {
    this.#service?.close();
  }

  /** Handles a request. While the environment is incomplete or invalid, the response and the log name the variable. */
  async fetch(request: Request, env: Env, waitUntil?: WaitUntil, time?: number): Promise<Response> {
    let service: Service<Env>;
    try {
      service = this.service(env);
    } catch (error) {
      const response = configErrorResponse(error);
      this.log(misconfigured(error));
      return response;
    }
    return service.fetch(request, waitUntil, time);
  }
}

/**
 * Creates the transport of a platform that supports only Redis over HTTP.
 * @throws {SluiceError} `invalid_argument` if the environment has `REDIS_URL` instead
 */
export function overHttp(redis: Config["redis"]): Transport {
  if ("redisUrl" in redis) {
    throw new SluiceError(
      "invalid_argument",
      "This platform reaches Redis over HTTP only: set UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN instead of REDIS_URL",
    );
  }
  return upstash(redis);
}
