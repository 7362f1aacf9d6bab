import { existsSync } from "node:fs";
import { join } from "node:path";
import { EmbeddedDatabase } from "../../embedded/database.ts";
import { queueKeys, registryKey } from "../../kernel/names/keys.ts";
import { listQueues } from "../../sweep/registry.ts";
import { loadRedisClient } from "../../transports/resp-client.ts";
import { resp } from "../../transports/resp.ts";
import { isClusterUrl, parsedUrl, REDIS } from "../../url.ts";
import { type Gateway, type GatewayOptions, startGateway } from "../gateway/gateway.ts";
import { RedisUnavailable } from "../gateway/redis-client.ts";
import { openKeptDatabase, SNAPSHOT } from "./embedded.ts";
import { lockFolder } from "./folder-lock.ts";
import { onFreePort } from "./port.ts";
import { hasRedisServer, startRedisServer } from "./redis.ts";
import type { Running } from "./running.ts";
import { StackError } from "./stack-error.ts";

export interface DatabaseOptions {
  /** The URL of a running Redis. @default a redis-server from the PATH, else the embedded store */
  readonly redisUrl?: string | undefined;
  /** The folder for the data, except of a running Redis. */
  readonly folder: string;
  /** Whether the data is kept for the next start. @default true */
  readonly keepData?: boolean | undefined;
  /** The gateway's port; 0 for any free one. With `preferred`: this port if it is free, else another. */
  readonly port: number | { readonly preferred: number | undefined };
  /** The gateway's token. @default a random one */
  readonly token?: string | undefined;
  readonly log: (line: string) => void;
}

export interface Database {
  /** Undefined if the embedded store is used. */
  readonly redisUrl: string | undefined;
  readonly gateway: Gateway;
}

/** What the user reads of the store. */
export const EMBEDDED_STORE = "the embedded store, in this process";

/**
 * Starts a store and the gateway, so that it is reached over HTTP as on Upstash.
 * @throws {StackError} if Redis does not start or does not answer, or the data cannot be read, or another process
 * uses the folder
 */
export async function startDatabase(running: Running, options: DatabaseOptions): Promise<Database> {
  const store = await startStore(running, options);
  try {
    const start = (port: number) => startGateway({ ...store, port, token, log });
    const { port, token, log } = options;
    const gateway = await (typeof port === "number" ? start(port) : onFreePort(port.preferred, start));
    running.add(() => gateway.close());
    return { redisUrl: store.redisUrl, gateway };
  } catch (error) {
    if (error instanceof RedisUnavailable) throw new StackError(error.message);
    throw error;
  }
}

type Store = Pick<GatewayOptions, "redisUrl" | "database">;

async function startStore(running: Running, options: DatabaseOptions): Promise<Store> {
  const { redisUrl, folder, keepData = true, log } = options;
  if (redisUrl !== undefined) {
    if (parsedUrl(redisUrl, REDIS)) return { redisUrl };
    if (isClusterUrl(redisUrl)) throw new StackError("the local stack runs on one Redis, not on a cluster");
    throw new StackError("the URL of Redis must begin with redis:// or rediss://");
  }
  // Given up last: the other parts write to the folder until they have stopped.
  if (keepData) running.add(await lockFolder(folder));
  if (await canStartRedis()) {
    refuseOtherData(
      folder,
      SNAPSHOT,
      "the embedded store",
      "a redis-server is on the PATH, so it would be used",
    );
    const { url, child } = await startRedisServer(folder);
    running.addChild("redis-server", child);
    return { redisUrl: url };
  }
  refuseOtherData(folder, "appendonlydir", "a redis-server", "none can be used now");
  if (!keepData) return { database: new EmbeddedDatabase() };
  const kept = openKeptDatabase(folder, log);
  running.add(() => kept.close());
  return { database: kept.database };
}

/** Whether there are a redis-server and the package that speaks to it. */
async function canStartRedis(): Promise<boolean> {
  if (!hasRedisServer()) return false;
  try {
    await loadRedisClient();
    return true;
  } catch {
    return false;
  }
}

/**
 * A folder with the data of one store must not look empty to the other.
 * @throws {StackError} if it has such data
 */
export function refuseOtherData(folder: string, name: string, owner: string, reason: string): void {
  if (!existsSync(join(folder, name))) return;
  throw new StackError(`the data in ${folder} is of ${owner}, and ${reason}; use another folder`);
}

/** Removes the keys of all queues with a prefix, and leaves the other data of the Redis. */
export async function removeKeys(redisUrl: string, prefix: string): Promise<void> {
  const transport = resp(redisUrl);
  try {
    let cursor: string | undefined;
    do {
      const page = await listQueues(transport, { prefix, cursor, size: 1_000 });
      for (const { name } of page.queues) {
        const { queues: _, ...keys } = queueKeys(name, prefix);
        // One key per command, because the keys of a cluster may be on different nodes.
        await transport.send(Object.values(keys).map((key) => ["UNLINK", key]));
      }
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    await transport.send([["UNLINK", registryKey(prefix)]]);
  } finally {
    await transport.close();
  }
}
