import { afterAll, beforeAll, beforeEach } from "vitest";

import { EmbeddedDatabase, embedded } from "../../src/embedded/index.ts";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import type { Command, CommandOutcome, Reply, Script, Transport } from "../../src/queue/redis/transport.ts";
import { resp } from "../../src/transport/resp.ts";
import type { RetryOptions } from "../../src/transport/retry.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";
import { startProxy, type Proxy } from "../transport/proxy.ts";
import { script } from "../transport/script.ts";

// One suite for every transport: what a queue may rely on with any of them.

/** Registers a Redis for a test file, emptied before each test, and every transport that reaches it. */
export function useTransports() {
  const its = {} as {
    redis: SharedRedis;
    /** The gateway in front of that Redis, for every transport. */
    proxy: Proxy;
    gateway: Gateway;
  };
  const open: ReturnType<typeof resp>[] = [];

  beforeAll(async () => {
    its.redis = await sharedRedis();
    its.proxy = await startProxy(its.redis.port);
    its.gateway = await startGateway({ redisUrl: its.proxy.url });
  });
  beforeEach(async () => {
    await run(empty);
    await runEmbedded(empty);
  });
  afterAll(async () => {
    await Promise.all(open.map((each) => each.close()));
    await its.gateway.close();
    await its.proxy.stop();
    await its.redis.stop();
  });

  const transports: readonly TransportUnderTest[] = [
    ["upstash", (retry) => upstash(its.gateway, { retry }), run],
    ["resp", (retry) => overTcp({ url: its.proxy.url, retry }), run],
  ];
  // It has no network whose faults could be tested, and reaches a database of its own.
  const database = new EmbeddedDatabase();
  const inProcess: TransportUnderTest = ["embedded", (retry) => embedded(database, { retry }), runEmbedded];

  function overTcp(options: Parameters<typeof resp>[0]) {
    const transport = resp(options);
    open.push(transport);
    return transport;
  }

  /** Runs commands on Redis directly, without the transport under test. */
  async function run(commands: readonly Command[]): Promise<CommandOutcome[]> {
    const direct = resp(its.redis.url);
    const outcomes = await direct.send(commands);
    await direct.close();
    return outcomes;
  }

  async function runEmbedded(commands: readonly Command[]): Promise<CommandOutcome[]> {
    return await embedded(database).send(commands);
  }

  return { its, transports, inProcess, overTcp, run };
}

/** A name, a function that makes the transport, and one that runs commands on its database without it. */
type TransportUnderTest = readonly [
  name: string,
  connect: (retry?: RetryOptions) => Transport,
  run: (commands: readonly Command[]) => Promise<CommandOutcome[]>,
];

const empty: readonly Command[] = [["FLUSHALL"], ["SCRIPT", "FLUSH"]];

export const call = (
  script: Script,
  args: readonly string[] = [],
  keys: readonly string[] = [],
): Command => ({
  script,
  keys,
  args,
});
export const reply = (value: Reply) => ({ reply: value });

export const echo = script("echo", "return ARGV");
export const store = script("store", "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])");
export const count = script("count", "return redis.call('INCR', KEYS[1])");
