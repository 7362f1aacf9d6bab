import { readFileSync } from "node:fs";
import { readConfig } from "../../config.ts";
import { SluiceError } from "../../errors.ts";
import { variable, type Variables } from "../../environment.ts";
import { restVariables } from "../../redis-variables.ts";
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

/** Where variables usually are. */
const FILES = [".env", ".env.local", ".dev.vars"];

/** A variable that says where the queues are, in a file. */
const SOURCE = /^\s*(?:export\s+)?(SLUICE_URL|UPSTASH_REDIS_REST_URL|KV_REST_API_URL|REDIS_URL)\s*=/m;

function nothingSet(): string {
  for (const file of FILES) {
    const [, name] = SOURCE.exec(textOfFile(file)) ?? [];
    if (name) return `nothing says where the queues are, but ./${file} has ${name}: add --env ${file}`;
  }
  return `nothing says where the queues are. Set one of:
  SLUICE_URL and SLUICE_TOKEN                              a deployment, with one of its tokens
  UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN      the database over HTTP
  KV_REST_API_URL and KV_REST_API_TOKEN                    the same, by the names of Vercel's integration
  REDIS_URL                                                the database over TCP
or pass a file that has them: --env .env`;
}

/** Empty if there is no such file, or it cannot be read. */
function textOfFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/**
 * Connects to a deployment if `SLUICE_URL` is set, otherwise to the database, with the variables that deployments
 * read.
 * @throws {UsageError} if the environment names neither
 * @throws {SluiceError} `invalid_argument` for an invalid variable, `not_installed`
 */
export async function connect(env: Variables, options: ConnectOptions, signal: AbortSignal): Promise<Api> {
  if (options.database && options.url) throw new UsageError("--database must not be given with --url");
  const url = options.database ? undefined : options.url || variable(env, "SLUICE_URL");
  if (url !== undefined) {
    const name = options.url ? "--url" : "SLUICE_URL";
    const { origin, pathname } = checkedUrl(url, name, HTTP, "user and password");
    return deployment(name, origin + pathname.replace(/\/+$/, ""), env, signal);
  }
  const rest = restVariables(env);
  if (rest.url === undefined && rest.token === undefined && variable(env, "REDIS_URL") === undefined)
    throw new UsageError(nothingSet());
  const config = readConfig({ ...env, SLUICE_TOKENS: undefined, CRON_SECRET: undefined });
  return openDatabase(config, env, signal);
}

function deployment(variableName: string, url: string, env: Variables, signal: AbortSignal): Api {
  const token = variable(env, "SLUICE_TOKEN");
  if (!token) throw new UsageError("SLUICE_TOKEN must be set to a token of the deployment");
  return new Api({
    url,
    token,
    name: url,
    isDatabase: false,
    // If it has a consumer or a wake URL.
    wakes: true,
    signal,
    fetch: (to, init) => globalThis.fetch(to, init),
    // A deployment answers within 10 s that its Redis does not.
    retry: { deadline: "12s", tryTimeout: "11s" },
    explain: (error) => explained(error, url, variableName),
  });
}

/**
 * Whether a proxy with a login, for example, has refused the request, and not the deployment itself: the problems of a
 * deployment have a code and a detail.
 */
export const isRefusedInFront = ({ code, message }: SluiceError): boolean =>
  code === "unauthorized" && /^the server answered HTTP \d{3}(?! \()/.test(message);

/**
 * The error of a request to a deployment, with its URL if it is perhaps no deployment.
 * @param name of the variable or option that has the URL
 */
function explained(error: unknown, url: string, name: string): unknown {
  if (!(error instanceof SluiceError)) return error;
  const { code, message } = error;
  const [, route] = /(\/(?:v1|dashboard|wake))(?:\/|$)/.exec(new URL(url).pathname) ?? [];
  if (code === "unsupported" && route !== undefined)
    return new SluiceError(code, `${message}. ${name} must end before ${route}`);
  if (isRefusedInFront(error))
    return new SluiceError(
      code,
      `${message}, and not as Sluice does: something in front of ${url} asks for a login`,
    );
  if (code !== "unreachable" && code !== "unexpected_reply") return error;
  // Problems with a code are of a deployment.
  if (/HTTP \d+ \(\w+\)/.test(message)) return new SluiceError("unreachable", `${url}: ${message}`);
  return new SluiceError(
    "unreachable",
    `${message}. Is ${url} a deployment of Sluice, with the path below which it is mounted?`,
  );
}
