import { randomBytes } from "node:crypto";
import { endpoints } from "../../http/endpoints/index.ts";
import { topics } from "../../http/topics/index.ts";
import { onDemand } from "../../deploy/on-demand.ts";
import { type Config, wakesThroughRedis } from "../../config.ts";
import type { Variables } from "../../environment.ts";
import { remoteWaker } from "../../deploy/remote-waker.ts";
import { urlWaker } from "../../deploy/setup.ts";
import { pubSubWaker } from "../../features/waking/index.ts";
import { SluiceError } from "../../errors.ts";
import { toConsole } from "../../log/logger.ts";
import { createApp } from "../../http/app.ts";
import type { Transport } from "../../kernel/transport.ts";
import { resp } from "../../transports/resp.ts";
import { upstash } from "../../transports/upstash.ts";
import { clusterNodes } from "../../url.ts";
import { EXIT, exitCodeOf } from "../exit.ts";
import { requirePackages } from "../serving/packages.ts";
import { Api } from "./api.ts";

/** The codes of errors whose cause the HTTP interface has logged. */
const FAULTS: ReadonlySet<string> = new Set([
  "unexpected_reply",
  "redis_error",
  "redis_quota",
  "redis_unauthorized",
]);

/**
 * Opens the database: runs the HTTP interface in this process, so that every command does the same as against a
 * deployment. Wakes consumers as a server does: through Redis over TCP, and at `SLUICE_WAKE_URL`.
 * @throws {SluiceError} `not_installed` if a package for TCP is missing
 */
export async function openDatabase(config: Config, env: Variables, signal: AbortSignal): Promise<Api> {
  const { redis, prefix } = config;
  if ("redisUrl" in redis) await requirePackages("sluice with REDIS_URL", ["@redis/client"]);
  const transport: Transport & { close?(): Promise<void> } =
    "redisUrl" in redis ? resp({ REDIS_URL: redis.redisUrl }) : upstash(redis);
  const token = randomBytes(24).toString("base64url");
  const byName = wakesThroughRedis(env, redis) ? pubSubWaker(transport, { prefix }) : undefined;
  const wake = remoteWaker({ remote: { byUrl: urlWaker(config, {}), byName }, log: toConsole });
  let last: unknown;
  const app = createApp({
    transport,
    prefix,
    tokens: [{ token, scopes: ["enqueue", "consume", "admin"], queues: "*" }],
    wake,
    deepSweep: onDemand.deepSweep(true),
    operations: onDemand.operations(true),
    schedules: onDemand.schedules(true),
    order: onDemand.order(true),
    debounce: onDemand.debounce(true),
    flows: onDemand.flows(true),
    parts: [endpoints, topics],
    limits: { body: 100_000_000 },
    onError: ({ error }) => (last = error),
  });
  const nodes = "redisUrl" in redis ? clusterNodes(redis.redisUrl) : undefined;
  const name = nodes
    ? `the cluster at ${nodes.map(({ host }) => host).join(", ")}`
    : `the database at ${new URL("redisUrl" in redis ? redis.redisUrl : redis.url).host}`;
  return new Api({
    url: "http://database",
    token,
    name,
    isDatabase: true,
    wakes: wake !== undefined,
    signal,
    fetch: async (url, init) => {
      last = undefined;
      const response = await app.fetch(new Request(url, init));
      // 424: the transport has resent already, so the client must not.
      const { status, headers, body } = response;
      return status < 500 ? response : new Response(body, { headers, status: 424 });
    },
    retry: { deadline: "1m", tryTimeout: "1m" },
    explain: (error) => {
      const said =
        error instanceof SluiceError && last instanceof SluiceError && FAULTS.has(error.code)
          ? new SluiceError(last.code, `${name}: ${last.message}`)
          : error;
      return "url" in redis && isOfRedis(said, new URL(redis.url))
        ? new SluiceError(said.code, `${said.message}. ${OF_REDIS}`)
        : said;
    },
    close: async () => transport.close?.(),
  });
}

const OF_REDIS =
  "Is this Redis itself? Then set REDIS_URL=redis://… for the command line and for servers; for HTTP, put sluice gateway --redis in front of it";

/** Whether what was asked over HTTP is perhaps Redis itself: by its port, or because it closes the connection. */
function isOfRedis(error: unknown, { port }: URL): error is SluiceError {
  if (!(error instanceof SluiceError) || exitCodeOf(error) !== EXIT.unreachable) return false;
  return port === "6379" ? error.message.includes("network error") : /UND_ERR_SOCKET/.test(error.message);
}
