import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../errors.ts";
import { serve } from "../../serverless/node.ts";
import { EMBEDDED_STORE, startDatabase } from "../local/stack/database.ts";
import { onFreePort } from "../local/stack/port.ts";
import { endSignal, Running } from "../local/stack/running.ts";
import { requirePackages } from "./packages.ts";
import { onPort, readPortOption } from "./port.ts";
import { type ProcessEnvironment, type Subcommand, UsageError } from "./subcommand.ts";

const usage = `Usage: sluice dev [options]

Runs all of Sluice on this machine: a store, the Upstash gateway in front of it, the HTTP interface, and a
sweep every minute. Prints the settings for clients. Ctrl-C ends it.

The store is a redis-server if one is on the PATH and the package @redis/client is installed; otherwise the
embedded store, which needs neither. Needs the package @hono/node-server.

Options:
  --port <number>          port of the HTTP interface (default: 8787, or another free one)
  --gateway-port <number>  port of the gateway (default: 8079, or another free one)
  --redis <url>            use a running Redis (default: REDIS_URL, else a store of its own)
  --data <folder>          folder in which the store of its own keeps its data for the next start. A crash
                           loses at most the last second of a redis-server, and the last 5 seconds of the
                           embedded store (default: none, the data is deleted at the end)

Reads SLUICE_TOKENS, CRON_SECRET and SLUICE_PREFIX from the environment. Without SLUICE_TOKENS it makes a
token. In a running Redis the default prefix is sluice-dev.
`;

export const dev: Subcommand = {
  summary: "run a store, the gateway, the HTTP interface and the sweep on this machine",
  usage,
  async run(args, env) {
    const ended = endSignal();
    const options = readOptions(args);
    const redisUrl = options.redis ?? (env["REDIS_URL"] || undefined);
    const forRedis = redisUrl === undefined ? [] : (["@redis/client"] as const);
    await requirePackages("sluice dev", [...forRedis, "@hono/node-server"]);
    const running = new Running();
    try {
      const lines = await start(running, { ...options, redis: redisUrl }, env);
      process.stdout.write(`${lines.join("\n")}\n`);
    } catch (error) {
      await running.stop();
      throw error;
    }
    const failure = running.failed.catch((error: Error) => error);
    void Promise.race([ended, failure]).then(async (reason) => {
      if (reason instanceof Error) {
        process.stderr.write(`sluice: ${reason.message}\n`);
        process.exitCode = 1;
      }
      await running.stop();
      process.exit();
    });
  },
};

async function start(running: Running, options: Options, env: ProcessEnvironment): Promise<string[]> {
  const { redis, data } = options;
  const { gateway, redisUrl } = await onPort("--gateway-port", options.gatewayPort, () =>
    startDatabase(running, {
      redisUrl: redis,
      folder: data ?? temporaryFolder(running),
      keepData: data !== undefined,
      port: options.gatewayPort ?? { preferred: 8079 },
      log: (line) => process.stderr.write(`${line}\n`),
    }),
  );
  const token = `dev_${randomBytes(18).toString("base64url")}`;
  const made = JSON.stringify([{ token, scopes: ["enqueue", "consume", "admin"], queues: "*" }]);
  const prefix = env["SLUICE_PREFIX"] || (redis === undefined ? undefined : "sluice-dev");
  const settings = {
    ...env,
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SLUICE_TOKENS: env["SLUICE_TOKENS"] || made,
    SLUICE_PREFIX: prefix,
  };
  const listen = (port: number) =>
    serve({ env: settings, port, hostname: "127.0.0.1", grace: 1_000, signals: false });
  const server = await onPort("--port", options.port, () =>
    options.port === undefined ? onFreePort(8787, listen) : listen(options.port),
  );
  running.add(() => server.close());

  return [
    "# Sluice runs on this machine, with a sweep every minute. Ctrl-C ends it.",
    `# Store: ${storeOf(redisUrl, options)}`,
    `UPSTASH_REDIS_REST_URL=${gateway.url}`,
    `UPSTASH_REDIS_REST_TOKEN=${gateway.token}`,
    `SLUICE_URL=${server.url}`,
    ...(env["SLUICE_TOKENS"] ? [] : [`SLUICE_TOKEN=${token}`, `SLUICE_TOKENS='${made}'`]),
    ...(prefix === undefined ? [] : [`SLUICE_PREFIX=${prefix}`]),
  ];
}

function storeOf(redisUrl: string | undefined, { redis, data }: Options): string {
  if (redis !== undefined) return "the running Redis";
  const kept = data === undefined ? "its data is deleted at the end" : `its data is in ${data}`;
  return `${redisUrl === undefined ? EMBEDDED_STORE : "a redis-server from the PATH"}; ${kept}`;
}

interface Options {
  readonly redis: string | undefined;
  readonly data: string | undefined;
  readonly port: number | undefined;
  readonly gatewayPort: number | undefined;
}

function readOptions(args: readonly string[]): Options {
  const text = { type: "string" } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { port: text, "gateway-port": text, redis: text, data: text },
    });
    return {
      redis: values.redis,
      data: values.data,
      port: readPortOption("--port", values.port),
      gatewayPort: readPortOption("--gateway-port", values["gateway-port"]),
    };
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function temporaryFolder(running: Running): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-dev-"));
  running.add(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
