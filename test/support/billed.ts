import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { Redis } from "@upstash/redis";
import { Operator, Queue } from "../../src/index.ts";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import { linkedScripts } from "../../src/lua/linked.gen.ts";
import { keyLocking, type Transport } from "../../src/kernel/transport.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { scripts } from "./bindings.ts";
import { sharedRedis, type SharedRedis } from "./shared-redis.ts";

/** A test file's gateway, which counts commands as Upstash bills them, and a new queue for each test. */
export interface Billed {
  readonly gateway: Gateway;
  /** New in each test, as of a new instance. */
  readonly transport: Transport;
  /** For commands beside those of the product. */
  readonly client: Redis;
  /** Is registered, and has had a task. */
  readonly queue: Queue;
  readonly operator: Operator;
  /** Gives members of a sorted set of the queue this score, such as when they are due. */
  rescore(part: string, score: number, members: readonly string[]): Promise<void>;
  /** The number of commands that Upstash would bill for `run`. */
  cost(run: () => Promise<unknown>): Promise<number>;
}

/** What a sweep of one queue that finds nothing costs. */
export const IDLE_SWEEP = 3 + 5;

/** Registers the set-up with vitest. Redis knows all scripts, as if the instances had run for a while. */
export function useBilled(): Billed {
  const billed = {
    async cost(run) {
      billed.gateway.resetUsage();
      await run();
      return billed.gateway.usage().commands;
    },
    async rescore(part, score, members) {
      const [first, ...others] = members.map((member) => ({ score, member }));
      if (first)
        await billed.client.zadd(`sluice:{${billed.queue.name}}:${part}`, { xx: true }, first, ...others);
    },
  } as { -readonly [K in keyof Billed]: Billed[K] };
  let redis: SharedRedis;
  let tests = 0;

  beforeAll(async () => {
    redis = await sharedRedis();
    billed.gateway = await startGateway({ redisUrl: redis.url });
    const { url, token } = billed.gateway;
    billed.client = new Redis({ url, token });
    const linked = await Promise.all(Object.values(linkedScripts).map((load) => load()));
    for (const { source } of [...scripts, ...linked]) await billed.client.scriptLoad(keyLocking + source);
  });
  beforeEach(async () => {
    const { url, token } = billed.gateway;
    billed.transport = upstash({ url, token });
    const name = `emails-${++tests}`;
    billed.queue = new Queue(name, { transport: billed.transport });
    billed.operator = new Operator(name, { transport: billed.transport });
    await billed.queue.enqueue(1, { resultTtl: 0 });
    await (await billed.queue.dequeue())[0]?.complete();
  });
  afterEach(() => billed.client.flushall());
  afterAll(async () => {
    await billed.gateway.close();
    await redis.stop();
  });
  return billed;
}
