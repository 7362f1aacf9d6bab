import { once } from "node:events";
import { connect } from "node:net";
import process from "node:process";
import { Command, Option } from "commander";
import { EmbeddedDatabase, startGateway } from "../../local/index.ts";
import { refuseOtherData } from "../../local/stack/database.ts";
import { lockFolder } from "../../local/stack/folder-lock.ts";
import { openKeptDatabase } from "../../local/stack/embedded.ts";
import { Running } from "../../local/stack/running.ts";
import { checkRedisUrl, isClusterUrl } from "../../url.ts";
import { UsageError } from "../exit.ts";
import { variable } from "../../environment.ts";
import type { Io } from "../io.ts";
import { requirePackages } from "./packages.ts";
import { onPort, portOption } from "./port.ts";

interface GatewayOptions {
  readonly redis?: string;
  readonly embedded?: boolean;
  readonly data?: string;
  readonly port?: number;
  readonly host?: string;
  readonly token?: string;
  readonly readOnlyToken?: string;
  readonly strictKeys: "flagged" | "always";
}

export function gatewayCommand(io: Io): Command {
  return new Command("gateway")
    .summary("serve a Redis, or the embedded store, over the Upstash REST protocol")
    .description(
      "Serves a Redis over the Upstash REST protocol, so that Upstash clients can use it. Without a Redis it serves the embedded store. For a Redis it needs the package @redis/client.",
    )
    .option(
      "--redis <url>",
      "redis:// or rediss:// (default: REDIS_URL, else redis://127.0.0.1:6379 if it answers there, else the embedded store)",
    )
    .option("--embedded", "serve the embedded store in any case")
    .option(
      "--data <folder>",
      "folder in which the embedded store keeps its data for the next start; a crash loses at most the last 5 seconds (default: none, the data ends with the gateway)",
    )
    .addOption(portOption("--port", "port to listen on; 0 for any free one (default: 8079)"))
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--token <text>", "the standard token (default: a random one)")
    .option("--read-only-token <text>", "a token for reading only (default: none)")
    .addOption(
      new Option(
        "--strict-keys <which>",
        "refuse undeclared keys in flagged scripts (those with allow-key-locking, as on Upstash), or always",
      )
        .choices(["flagged", "always"])
        .default("flagged"),
    )
    .action((options: GatewayOptions) => serveGateway(options, io));
}

async function serveGateway(options: GatewayOptions, { env, stdout, stderr }: Io): Promise<void> {
  const redisUrl = await redisOf(options, env);
  if (redisUrl !== undefined) await requirePackages("sluice gateway", ["@redis/client"]);
  const { data, port = 8079, host, token, readOnlyToken, strictKeys } = options;
  const log = (line: string) => stderr.write(`${line}\n`);
  const running = new Running();
  try {
    const database = redisUrl === undefined ? await openStore(running, data, log) : undefined;
    const serving = await onPort("--port", port, () =>
      startGateway({ redisUrl, database, port, host, token, readOnlyToken, strictKeys, log }),
    );
    running.add(() => serving.close());
    stdout.write(
      [
        `# ${database ? described(database, data) : withoutPassword(redisUrl as string)} over the Upstash REST protocol. Ctrl-C ends it.`,
        `UPSTASH_REDIS_REST_URL=${serving.url}`,
        `UPSTASH_REDIS_REST_TOKEN=${serving.token}`,
        ...(readOnlyToken === undefined ? [] : [`UPSTASH_REDIS_REST_READONLY_TOKEN=${readOnlyToken}`]),
        "",
      ].join("\n"),
    );
  } catch (error) {
    await running.stop();
    throw error;
  }
  const end = () => void running.stop();
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
}

/**
 * The Redis to serve; undefined for the embedded store.
 * @throws {UsageError}
 */
async function redisOf(
  { redis, embedded, data }: GatewayOptions,
  env: Io["env"],
): Promise<string | undefined> {
  if (embedded && redis !== undefined) throw new UsageError("--embedded must not be given with --redis");
  const url = embedded ? undefined : (redis ?? variable(env, "REDIS_URL") ?? (await runningRedis()));
  if (url === undefined) return undefined;
  if (isClusterUrl(url))
    throw new UsageError("the gateway serves no cluster; --redis or REDIS_URL must name one Redis");
  if (!/^rediss?:\/\//.test(url))
    throw new UsageError("--redis or REDIS_URL must begin with redis:// or rediss://");
  checkRedisUrl(url, redis === undefined ? "REDIS_URL" : "--redis");
  if (data !== undefined)
    throw new UsageError(
      `--data is for the embedded store, and ${withoutPassword(url)} would be served; add --embedded`,
    );
  return url;
}

/** The Redis at its usual port on this machine; undefined if there is none. */
async function runningRedis(): Promise<string | undefined> {
  const socket = connect(6379, "127.0.0.1");
  try {
    await once(socket, "connect");
    return "redis://127.0.0.1:6379";
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

async function openStore(
  running: Running,
  folder: string | undefined,
  log: (line: string) => void,
): Promise<EmbeddedDatabase> {
  if (folder === undefined) return new EmbeddedDatabase();
  running.add(await lockFolder(folder));
  refuseOtherData(folder, "appendonlydir", "a redis-server", "the embedded store cannot read it");
  const kept = openKeptDatabase(folder, log);
  running.add(() => kept.close());
  return kept.database;
}

function described(database: EmbeddedDatabase, folder: string | undefined): string {
  const kept = folder === undefined ? "keeps no data" : `keeps its data in ${folder}`;
  return `The embedded store, which ${kept} and has ${String(database.call("COMMAND", "COUNT"))} commands,`;
}

function withoutPassword(redisUrl: string): string {
  const url = new URL(redisUrl);
  if (url.password !== "") url.password = "…";
  return url.href;
}
