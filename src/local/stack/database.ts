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
  /** A running Redis to use. @default a redis-server of its own, from the PATH */
  readonly redisUrl?: string | undefined;
  /** Where a redis-server of its own keeps its data. */
  readonly folder: string;
  /** The gateway's port, 0 for any free one; or the one to take where it is free. */
  readonly port: number | { readonly preferred: number | undefined };
  readonly log: (line: string) => void;
}

export interface Database {
  readonly redisUrl: string;
  readonly gateway: Gateway;
}

/**
 * Starts a Redis that is reached as one on Upstash is: over HTTP, through the gateway.
 * @throws {StackError} where Redis does not start or does not answer
 */
export async function startDatabase(running: Running, options: DatabaseOptions): Promise<Database> {
  const redisUrl = options.redisUrl ?? (await startOwnRedis(running, options.folder));
  if (!parsedUrl(redisUrl, REDIS)) {
    throw new StackError("REDIS_URL must be a URL that begins with redis:// or rediss://");
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

/** Removes everything under a prefix from a Redis that is also used for other things. */
export async function removeKeys(redisUrl: string, prefix: string): Promise<void> {
  const transport = resp(redisUrl);
  try {
    let cursor: string | undefined;
    do {
      const page = await listQueues(transport, { prefix, cursor, size: 1_000 });
      for (const { name } of page.queues) {
        const { queues: _, ...keys } = queueKeys(name, prefix);
        // One key a command: on a cluster they may still be told apart.
        await transport.send(Object.values(keys).map((key) => ["UNLINK", key]));
      }
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    await transport.send([["UNLINK", registryKey(prefix)]]);
  } finally {
    await transport.close();
  }
}
