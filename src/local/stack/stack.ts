import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Scope, TokenEntry } from "../../http/auth/tokens.ts";
import type { SweepReport } from "../../open/sweep-with.ts";
import { type Database, removeKeys, startDatabase } from "./database.ts";
import { startCron } from "./cron.ts";
import { freePort } from "./port.ts";
import type { Running } from "./running.ts";
import { startLocalServer } from "./server.ts";
import { startLocalWorker } from "./worker.ts";

export interface StackOptions {
  /** An existing folder for the data and logs of this run. */
  readonly folder: string;
  /**
   * The URL of a running Redis, in which this run uses its own key prefix.
   * @default a redis-server from the PATH, else the embedded store
   */
  readonly redisUrl?: string | undefined;
  /** Whether the Redis of `redisUrl` keeps the keys of this run. @default false */
  readonly keepData?: boolean | undefined;
  /** What runs the deployment: a Worker in workerd, or a server on Node. @default "workerd" */
  readonly runtime?: "workerd" | "node" | undefined;
  /** Preferred ports, used if they are free. @default any free ports */
  readonly ports?: { readonly deployment?: number; readonly gateway?: number } | undefined;
  /** Called with each log line of the deployment and the gateway. */
  readonly log: (line: string) => void;
  /** Called with a line after each run of the cron. @default no log */
  readonly cron?: ((line: string) => void) | undefined;
}

/** The store, its gateway, and the deployment with its cron and the dashboard. */
export interface Stack extends Database {
  readonly url: string;
  readonly runtime: "workerd" | "node";
  /** Tokens of the HTTP interface: one for producers, one for consumers, and one with all scopes. */
  readonly tokens: Readonly<Record<"enqueue" | "consume" | "all", string>>;
}

const config = fileURLToPath(new URL("../../../wrangler.toml", import.meta.url));
const entrypoint = fileURLToPath(new URL("../complete-worker.ts", import.meta.url));

/**
 * Starts the local stack.
 * @param running gets each started part, even if this function throws
 * @throws {StackError}
 */
export async function startStack(running: Running, options: StackOptions): Promise<Stack> {
  const { folder, redisUrl, keepData = false, runtime = "workerd", ports = {}, log } = options;
  const database = await startDatabase(running, {
    redisUrl,
    folder: join(folder, "redis"),
    port: { preferred: ports.gateway },
    log: (line) => log(`gateway: ${line}`),
  });
  const { gateway } = database;

  // A running Redis may have other data.
  const prefix = redisUrl === undefined ? undefined : `sluice-local-${randomBytes(4).toString("hex")}`;
  if (redisUrl !== undefined && prefix !== undefined && !keepData) {
    running.add(() => removeKeys(redisUrl, prefix));
  }

  const tokens = { enqueue: newToken("enqueue"), consume: newToken("consume"), all: newToken("all") };
  const env = {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SLUICE_TOKENS: JSON.stringify([
      entry(tokens.enqueue, "enqueue"),
      entry(tokens.consume, "consume"),
      entry(tokens.all, "enqueue", "consume", "admin"),
    ]),
    ...(prefix !== undefined && { SLUICE_PREFIX: prefix }),
  };
  // wrangler hangs if another stack takes its port at the last moment. So a stack uses the deployment's preferred
  // port only if its gateway got the preferred port, which only one stack can.
  const first = new URL(gateway.url).port === String(ports.gateway);
  const port = await freePort(first ? ports.deployment : undefined);
  const start = runtime === "node" ? startServer : startWorker;
  const url = await start(running, env, port, options);
  return { ...database, url, runtime, tokens };
}

type Start = (
  running: Running,
  env: Readonly<Record<string, string>>,
  port: number,
  options: StackOptions,
) => Promise<string>;

const startServer: Start = async (running, env, port, { log }) => {
  const logServer = (line: string) => log(`server: ${sweepSummary(line) ?? line}`);
  const { url, child } = await startLocalServer({ port, env, log: logServer });
  running.addChild("the server", child);
  return url;
};

const startWorker: Start = async (running, bindings, port, { folder, log, cron = () => {} }) => {
  const worker = await startLocalWorker({
    config,
    entrypoint,
    bindings,
    port,
    folder: join(folder, "worker"),
    logFile: join(folder, "worker.log"),
    log: (line) => log(`Worker: ${sweepSummary(line) ?? line}`),
  });
  running.addChild("the Worker", worker.child);

  const cronjobs = startCron(worker.url, worker.crons, { fired: cron, failed: log });
  running.add(() => cronjobs.stop());
  return worker.url;
};

/** A readable line for the sweep report that the Worker logs as JSON. */
function sweepSummary(line: string): string | undefined {
  if (!line.startsWith('{"sweep":')) return undefined;
  const { queues, promoted, reclaimed, rejected, expired, failed } = (
    JSON.parse(line) as { sweep: SweepReport }
  ).sweep;
  return (
    `cron swept ${queues} ${queues === 1 ? "queue" : "queues"}: promoted ${promoted}, reclaimed ${reclaimed}, ` +
    `dead-lettered ${rejected}, expired ${expired}${failed.length > 0 ? `, failed ${failed.length}` : ""}`
  );
}

const newToken = (name: string) => `${name}_${randomBytes(18).toString("base64url")}`;

const entry = (token: string, ...scopes: Scope[]): TokenEntry => ({ token, scopes, queues: "*" });
