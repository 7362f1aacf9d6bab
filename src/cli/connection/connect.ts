import { readConfig } from "../../config.ts";
import { SluiceError } from "../../errors.ts";
import type { Variables } from "../../environment.ts";
import { checkedUrl, HTTP } from "../../url.ts";
import { UsageError } from "../exit.ts";
import { Api } from "./api.ts";
import { openDatabase } from "./database.ts";

/** How to choose between a deployment and the database. */
export interface ConnectOptions {
  /** @default `SLUICE_URL` */
  readonly url?: string | undefined;
  /** Uses the database, even if `SLUICE_URL` is set. */
  readonly database?: boolean | undefined;
}

const NOTHING_SET = `nothing says where the queues are. Set one of:
  SLUICE_URL and SLUICE_TOKEN                              a deployment, with one of its tokens
  UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN      the database over HTTP
  REDIS_URL                                                the database over TCP
or pass a file that has them: --env-file .env`;

/**
 * Connects to a deployment if `SLUICE_URL` is set, otherwise to the database, with the variables that deployments
 * read.
 * @throws {UsageError} if the environment names neither
 * @throws {SluiceError} `invalid_argument` for an invalid variable, `not_installed`
 */
export async function connect(env: Variables, options: ConnectOptions, signal: AbortSignal): Promise<Api> {
  const url = options.database ? undefined : options.url || env["SLUICE_URL"];
  if (url !== undefined && url !== "") return deployment(url, env, signal);
  if (!env["UPSTASH_REDIS_REST_URL"] && !env["UPSTASH_REDIS_REST_TOKEN"] && !env["REDIS_URL"])
    throw new UsageError(NOTHING_SET);
  return openDatabase(readConfig({ ...env, SLUICE_TOKENS: undefined, CRON_SECRET: undefined }), signal);
}

function deployment(url: string, env: Variables, signal: AbortSignal): Api {
  const token = env["SLUICE_TOKEN"];
  if (!token) throw new UsageError("SLUICE_TOKEN must be set to a token of the deployment");
  checkedUrl(url, "SLUICE_URL", HTTP);
  return new Api({
    url,
    token,
    name: url,
    isDatabase: false,
    signal,
    fetch: (to, init) => globalThis.fetch(to, init),
    explain: (error) =>
      error instanceof SluiceError && error.code === "unreachable"
        ? new SluiceError("unreachable", `${error.message}. Is ${url} a deployment of Sluice?`)
        : error,
  });
}
