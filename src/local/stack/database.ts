import { queueKeys, registryKey } from "../../queue/core/keys.ts";
import { listQueues } from "../../queue/sweep/registry.ts";
import { resp } from "../../transport/resp.ts";
import { parsedUrl, REDIS } from "../../url.ts";
import { type Gateway, startGateway } from "../gateway/gateway.ts";
import { RedisUnavailable } from "../gateway/redis-client.ts";
import { onFreePort } from "./port.ts";
import { startRedisServer } from "./redis.ts";
import type { Running } from "./running.ts";
import { StackError } from "./stack-error.ts";

export interface DatabaseOptions {
  /** The URL of a running Redis. @default starts a redis-server from the PATH */
  readonly redisUrl?: string | undefined;
  /** The folder for the data of a redis-server that is started here. */
  readonly folder: string;
  /** The gateway's port; 0 for any free one. With `preferred`: this port if it is free, else another. */
  readonly port: number | { readonly preferred: number | undefined };
  readonly log: (line: string) => void;
}

export interface Database {
  readonly redisUrl: string;
  readonly gateway: Gateway;
}

/**
 * Starts a Redis and the gateway, so that it is reached over HTTP as on Upstash.
 * @throws {StackError} if Redis does not start or does not answer
 */
export async function startDatabase(running: Running, options: DatabaseOptions): Promise<Database> {
  const redisUrl = options.redisUrl ?? (await startOwnRedis(running, options.folder));
  if (!parsedUrl(redisUrl, REDIS)) {
    throw new StackError("the URL of Redis must begin with redis:// or rediss://");
  }
  try {
    const start = (port: number) => startGateway({ redisUrl, port, log: options.log });
    const { port } = options;
    const gateway = await (typeof port === "number" ? start(port) : onFreePort(port.preferred, start));
    running.add(() => gateway.close());
    return { redisUrl, gateway };
  } catch (error) {
    if (error instanceof RedisUnavailable) throw new StackError(error.message);
    throw error;
  }
}

async function startOwnRedis(running: Running, folder: string): Promise<string> {
  const { url, child } = await startRedisServer(folder);
  running.addChild("redis-server", child);
  return url;
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
