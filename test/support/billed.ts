import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { Redis } from "@upstash/redis";
import { Operator, Queue } from "../../src/index.ts";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { sharedRedis, type SharedRedis } from "./shared-redis.ts";

/** A test file's gateway, which counts commands as Upstash bills them, and a new queue for each test. */
export interface Billed {
  readonly gateway: Gateway;
  readonly queue: Queue;
  readonly operator: Operator;
  /** The number of commands that Upstash would bill for `run`. */
  cost(run: () => Promise<unknown>): Promise<number>;
}

/**
 * Registers the set-up with vitest.
 * @param warm calls each script once, as in any instance that has run for a minute: the scripts are then
 *   loaded, and the queue is registered
 */
export function useBilled(warm: (billed: Billed) => Promise<unknown>): Billed {
  const billed = {
    async cost(run) {
      billed.gateway.resetUsage();
      await run();
      return billed.gateway.usage().commands;
    },
  } as { -readonly [K in keyof Billed]: Billed[K] };
  let redis: SharedRedis;
  let tests = 0;

  beforeAll(async () => {
    redis = await sharedRedis();
    billed.gateway = await startGateway({ redisUrl: redis.url });
  });
  beforeEach(async () => {
    const transport = upstash({ url: billed.gateway.url, token: billed.gateway.token });
    const name = `emails-${++tests}`;
    billed.queue = new Queue(name, { transport });
    billed.operator = new Operator(name, { transport });
    await warm(billed);
  });
  afterEach(async () => {
    await new Redis({ url: billed.gateway.url, token: billed.gateway.token }).flushall();
  });
  afterAll(async () => {
    await billed.gateway.close();
    await redis.stop();
  });
  return billed;
}
