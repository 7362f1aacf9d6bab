import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach } from "vitest";

import { EmbeddedDatabase, embedded } from "../../../src/embedded/index.ts";
import { startGateway, type Gateway } from "../../../src/local/index.ts";
import type { Command, CommandOutcome, Reply, Script, Transport } from "../../../src/kernel/transport.ts";
import { resp } from "../../../src/transports/resp.ts";
import type { RetryOptions } from "../../../src/transports/retry.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { slotOf } from "../../../src/transports/hash-slot.ts";
import { type ClosedPort, holdClosedPort } from "../../support/listening.ts";
import { hasClusters, sharedCluster } from "../../support/redis-cluster.ts";
import { sharedRedis, type SharedRedis } from "../../support/shared-redis.ts";
import { startProxies, type ProxiedCluster } from "../../transports/proxied-cluster.ts";
import { startProxy, type Proxy } from "../../transports/proxy.ts";
import { script } from "../../transports/script.ts";

// One suite for every transport: what a queue may rely on with any of them.

export interface TransportUnderTest {
  readonly name: string;
  connect(retry?: RetryOptions): Transport;
  /** Runs commands on its database, without the transport under test. On a cluster, commands without a key run on all masters. */
  run(commands: readonly Command[]): Promise<CommandOutcome[]>;
}

/** A transport with a network between it and its database. All keys are of the hash tag `{q}`. */
export interface Networked extends TransportUnderTest {
  /** Loses so many replies. */
  lose(replies: number): void;
  /** Has the next request answered with this error of Redis. It does not run. */
  refuse(error: string): void;
  /** Keeps back the reply to the next request. Resolves when it is there. */
  hold(): Promise<void>;
  /** Keeps back all replies. */
  silence(): void;
  /** A transport whose credentials Redis does not know. */
  stranger(retry: RetryOptions): Transport;
  /** A transport to a port without a server. */
  astray(retry: RetryOptions): Transport;
}

/** Registers a Redis, and a cluster if there may be one, for a test file, emptied before each test, and every transport. */
export function useTransports() {
  const its = {} as {
    redis: SharedRedis;
    direct: Transport;
    /** In front of that Redis, for every transport. */
    proxy: Proxy;
    gateway: Gateway;
    /** A port on which no server listens. */
    nowhere: ClosedPort;
    onCluster: Transport;
    masters: readonly Transport[];
    proxied: ProxiedCluster;
    /** In front of the node with the tested keys. */
    owner: Proxy;
  };
  const open: ReturnType<typeof resp>[] = [];
  function overTcp(options: Parameters<typeof resp>[0]) {
    const transport = resp(options);
    open.push(transport);
    return transport;
  }

  beforeAll(async () => {
    its.redis = await sharedRedis();
    its.direct = overTcp(its.redis.url);
    its.proxy = await startProxy(its.redis.port);
    its.nowhere = await holdClosedPort();
    its.gateway = await startGateway({ redisUrl: its.proxy.url });
    if (!hasClusters) return;
    const cluster = await sharedCluster();
    its.onCluster = overTcp(cluster.url);
    its.masters = (await cluster.masters()).map(({ redis }) => overTcp(redis.url));
    its.proxied = await startProxies(cluster);
    its.owner = await its.proxied.proxyOf("{q}");
  });
  beforeEach(async () => {
    its.gateway.faults.clear();
    for (const proxy of [its.proxy, ...(its.proxied?.proxies ?? [])]) proxy.release();
    await Promise.all(all.map(({ run }) => run([["FLUSHALL"], ["SCRIPT", "FLUSH"]])));
  });
  afterAll(async () => {
    await Promise.all(open.map((each) => each.close()));
    await its.gateway.close();
    await its.proxied?.stop();
    await its.proxy.stop();
    its.nowhere.release();
    await its.redis.stop();
  });

  const run = (commands: readonly Command[]) => its.direct.send(commands);

  const overHttp: Networked = {
    name: "upstash",
    run,
    connect: (retry) => upstash(its.gateway, { retry }),
    lose: (times) => void its.gateway.faults.add({ kind: "lose-reply", match: { times } }),
    refuse(error) {
      const body = JSON.stringify([{ error }]);
      its.gateway.faults.add({ kind: "http", status: 200, body });
    },
    async hold() {
      const stalled = its.gateway.faults.add({ kind: "stall", runs: true });
      while (stalled.held === 0) await sleep(1);
    },
    silence: () => void its.gateway.faults.add({ kind: "stall", match: { times: "always" } }),
    stranger: (retry) => upstash({ url: its.gateway.url, token: "the-secret-password" }, { retry }),
    astray: (retry) =>
      upstash({ url: `http://127.0.0.1:${its.nowhere.port}`, token: "the-secret-password" }, { retry }),
  };

  const behind = (proxy: () => Proxy) => ({
    lose: (replies: number) => proxy().loseReplies(replies),
    refuse: (error: string) => proxy().answerNext(`-${error}\r\n`),
    hold: () => proxy().hold(),
    silence() {
      void proxy().hold();
      void proxy().holdNew();
    },
  });
  const stranger = (url: string) => url.replace("//", "//stranger:the-secret-password@");
  const direct: Networked = {
    name: "resp",
    run,
    connect: (retry) => overTcp({ url: its.proxy.url, retry }),
    ...behind(() => its.proxy),
    stranger: (retry) => overTcp({ url: stranger(its.proxy.url), retry }),
    astray: (retry) => overTcp({ url: `redis://127.0.0.1:${its.nowhere.port}`, retry }),
  };

  const onCluster: Networked = {
    name: "resp on a cluster",
    connect: (retry) => overTcp({ ...its.proxied.options, retry }),
    async run(commands) {
      const isOfAll = commands.every((command) => slotOf(command) === undefined);
      if (!isOfAll) return its.onCluster.send(commands);
      const [outcomes] = await Promise.all(its.masters.map((master) => master.send(commands)));
      return outcomes ?? [];
    },
    ...behind(() => its.owner),
    stranger: (retry) => overTcp({ nodes: its.proxied.options.nodes.map(stranger), retry }),
    astray: (retry) => overTcp({ nodes: [`redis://127.0.0.1:${its.nowhere.port}`], retry }),
  };

  // It has no network whose faults could be tested, and reaches a database of its own.
  const database = new EmbeddedDatabase();
  const inProcess: TransportUnderTest = {
    name: "embedded",
    connect: (retry) => embedded(database, { retry }),
    run: (commands) => embedded(database).send(commands),
  };

  const networked: readonly Networked[] = hasClusters ? [overHttp, direct, onCluster] : [overHttp, direct];
  const all: readonly TransportUnderTest[] = [...networked, inProcess];
  return { its, all, networked, overTcp, run };
}

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
