import { afterAll, beforeAll, beforeEach } from "vitest";

import { EmbeddedDatabase, embedded } from "../../src/embedded/index.ts";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import type { Command, CommandOutcome, Reply, Script, Transport } from "../../src/queue/redis/transport.ts";
import { resp } from "../../src/transport/resp.ts";
import type { RetryOptions } from "../../src/transport/retry.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { slotOf } from "../../src/transport/hash-slot.ts";
import { hasClusters, startCluster, type TestCluster } from "../support/redis-cluster.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";
import { startProxy, type Proxy } from "../transport/proxy.ts";
import { script } from "../transport/script.ts";

// One suite for every transport: what a queue may rely on with any of them.

/** Registers a Redis for a test file, emptied before each test, and every transport that reaches it; on request also a cluster. */
export function useTransports({ withCluster = false } = {}) {
  const its = {} as {
    redis: SharedRedis;
    /** The gateway in front of that Redis, for every transport. */
    proxy: Proxy;
    gateway: Gateway;
    cluster: TestCluster | undefined;
  };
  const open: ReturnType<typeof resp>[] = [];

  beforeAll(async () => {
    its.redis = await sharedRedis();
    its.proxy = await startProxy(its.redis.port);
    its.gateway = await startGateway({ redisUrl: its.proxy.url });
    if (withCluster && hasClusters) its.cluster = await startCluster();
  }, 60_000);
  beforeEach(async () => {
    await run(empty);
    await runEmbedded(empty);
    await its.cluster?.empty();
  });
  afterAll(async () => {
    await Promise.all(open.map((each) => each.close()));
    await its.gateway.close();
    await its.proxy.stop();
    await its.redis.stop();
    await its.cluster?.stop();
  });

  const transports: readonly TransportUnderTest[] = [
    ["upstash", (retry) => upstash(its.gateway, { retry }), run],
    ["resp", (retry) => overTcp({ url: its.proxy.url, retry }), run],
  ];
  // It has no network whose faults could be tested, and reaches a database of its own.
  const database = new EmbeddedDatabase();
  const inProcess: TransportUnderTest = ["embedded", (retry) => embedded(database, { retry }), runEmbedded];

  const onCluster: readonly TransportUnderTest[] = hasClusters
    ? [["resp on a cluster", (retry) => overTcp({ url: its.cluster!.url, retry }), runOnCluster]]
    : [];

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

  /** As {@link run}. A command without a key runs on all masters. */
  async function runOnCluster(commands: readonly Command[]): Promise<CommandOutcome[]> {
    const cluster = its.cluster!;
    const all = resp(cluster.url);
    const outcomes = await all.send(commands);
    await all.close();
    const keyless = commands.filter((one) => slotOf(one) === undefined);
    for (const { redis } of keyless.length > 0 ? await cluster.masters() : []) {
      const direct = resp(redis.url);
      await direct.send(keyless);
      await direct.close();
    }
    return outcomes;
  }

  async function runEmbedded(commands: readonly Command[]): Promise<CommandOutcome[]> {
    return await embedded(database).send(commands);
  }

  return { its, transports, inProcess, onCluster, overTcp, run };
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
