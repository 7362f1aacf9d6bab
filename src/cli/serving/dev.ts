import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Command } from "commander";
import { serve } from "../../../serverless/node.ts";
import { EMBEDDED_STORE, startDatabase } from "../../local/stack/database.ts";
import { onFreePort } from "../../local/stack/port.ts";
import { endSignal, Running } from "../../local/stack/running.ts";
import { variable } from "../../environment.ts";
import type { Io } from "../io.ts";
import { requirePackages } from "./packages.ts";
import { onPort, portOption } from "./port.ts";

interface DevOptions {
  readonly port?: number;
  readonly gatewayPort?: number;
  readonly redis?: string | undefined;
  readonly data?: string;
}

export function devCommand(io: Io): Command {
  return new Command("dev")
    .summary("run a store, the gateway, the HTTP interface and the sweep on this machine")
    .description(
      `Runs all of Sluice on this machine: a store, the Upstash gateway in front of it, the HTTP interface with its dashboard, and a sweep every minute. Prints the settings for clients. Ctrl-C ends it.

The store is a redis-server if one is on the PATH and the package @redis/client is installed; otherwise the embedded store, which needs neither. Needs the package @hono/node-server.

Reads SLUICE_TOKENS, UPSTASH_REDIS_REST_TOKEN, CRON_SECRET and SLUICE_PREFIX from the environment, and what serve reads of wakes. Without SLUICE_TOKENS it makes a token, and without UPSTASH_REDIS_REST_TOKEN one for the gateway. In a running Redis the default prefix is sluice-dev.`,
    )
    .addOption(portOption("--port", "port of the HTTP interface (default: 8787, or another free one)"))
    .addOption(portOption("--gateway-port", "port of the gateway (default: 8079, or another free one)"))
    .option("--redis <url>", "use a running Redis (default: REDIS_URL, else a store of its own)")
    .option(
      "--data <folder>",
      "folder that keeps the data of its own store for the next start. A crash loses at most the last second, with the embedded store the last 5 seconds (default: none, the data is deleted at the end)",
    )
    .action((options: DevOptions) => runAll(options, io));
}

async function runAll(given: DevOptions, { env, stdout, stderr }: Io): Promise<void> {
  const ended = endSignal();
  const redis = given.redis ?? variable(env, "REDIS_URL");
  const forRedis = redis === undefined ? [] : (["@redis/client"] as const);
  await requirePackages("sluice dev", [...forRedis, "@hono/node-server"]);
  const running = new Running();
  try {
    const lines = await start(running, { ...given, redis }, env);
    stdout.write(`${lines.join("\n")}\n`);
  } catch (error) {
    await running.stop();
    throw error;
  }
  const failure = running.failed.catch((error: Error) => error);
  void Promise.race([ended, failure]).then(async (reason) => {
    if (reason instanceof Error) {
      stderr.write(`sluice: ${reason.message}\n`);
      process.exitCode = 1;
    }
    await running.stop();
    process.exit();
  });
}

async function start(running: Running, options: DevOptions, env: Io["env"]): Promise<string[]> {
  const { redis, data } = options;
  const { gateway, redisUrl } = await onPort("--gateway-port", options.gatewayPort, () =>
    startDatabase(running, {
      redisUrl: redis,
      folder: data ?? temporaryFolder(running),
      keepData: data !== undefined,
      port: options.gatewayPort ?? { preferred: 8079 },
      token: variable(env, "UPSTASH_REDIS_REST_TOKEN"),
      log: (line) => process.stderr.write(`${line}\n`),
    }),
  );
  const token = `dev_${randomBytes(18).toString("base64url")}`;
  const made = JSON.stringify([{ token, scopes: ["enqueue", "consume", "admin"], queues: "*" }]);
  const prefix = variable(env, "SLUICE_PREFIX") ?? (redis === undefined ? undefined : "sluice-dev");
  const settings = {
    ...env,
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SLUICE_TOKENS: variable(env, "SLUICE_TOKENS") ?? made,
    SLUICE_PREFIX: prefix,
  };
  const listen = (port: number) =>
    serve({ env: settings, port, hostname: "127.0.0.1", grace: 1_000, signals: false, dashboard: true });
  const server = await onPort("--port", options.port, () =>
    options.port === undefined ? onFreePort(8787, listen) : listen(options.port),
  );
  running.add(() => server.close());

  return [
    "# Sluice runs on this machine, with a sweep every minute. Ctrl-C ends it.",
    `# Store: ${storeOf(redisUrl, options)}`,
    `# Dashboard: ${server.url}/dashboard, for ${variable(env, "SLUICE_TOKENS") ? "a token of SLUICE_TOKENS" : "SLUICE_TOKEN"}`,
    `UPSTASH_REDIS_REST_URL=${gateway.url}`,
    `UPSTASH_REDIS_REST_TOKEN=${gateway.token}`,
    `SLUICE_URL=${server.url}`,
    ...(variable(env, "SLUICE_TOKENS") ? [] : [`SLUICE_TOKEN=${token}`, `SLUICE_TOKENS='${made}'`]),
    ...(prefix === undefined ? [] : [`SLUICE_PREFIX=${prefix}`]),
  ];
}

function storeOf(redisUrl: string | undefined, { redis, data }: DevOptions): string {
  if (redis !== undefined) return "the running Redis";
  const kept = data === undefined ? "its data is deleted at the end" : `its data is in ${data}`;
  return `${redisUrl === undefined ? EMBEDDED_STORE : "a redis-server from the PATH"}; ${kept}`;
}

function temporaryFolder(running: Running): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-dev-"));
  running.add(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
