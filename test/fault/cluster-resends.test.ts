import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Command } from "../../src/queue/redis/transport.ts";
import type { RetryOptions } from "../../src/transport/retry.ts";
import { hashSlot } from "../../src/transport/hash-slot.ts";
import { resp } from "../../src/transport/resp.ts";
import { failOver, migrateSlot } from "../support/cluster-changes.ts";
import { PATIENT } from "../support/patient.ts";
import { type ClusterMember, command, startCluster, type TestCluster } from "../support/redis-cluster.ts";
import { startProxy, type Proxy } from "../transport/proxy.ts";
import { script } from "../transport/script.ts";

/** Counts its runs and returns its arguments. */
const counted = script("counted", "return { redis.call('INCR', KEYS[1]), ARGV[1] }");
const both = script("both", "return { redis.call('INCR', KEYS[1]), redis.call('INCR', KEYS[2]), ARGV[1] }");
const runs = (key: string): Command => ({
  script: counted,
  keys: [key],
  args: ["first"],
  resendArgs: ["again"],
});

let cluster: TestCluster;
/** In front of each member, by its port. */
let proxies: Map<number, Proxy>;
let transport: ReturnType<typeof resp>;
/** Keys of three masters: each has a third of the slots. */
const keys = ["b", "c", "a"] as [string, string, string];

/** A transport that reaches each member through its proxy. */
function reach(retry: RetryOptions = {}) {
  const nodes = [...proxies.values()].map(({ url }) => url);
  return resp({ nodes, natMap: throughProxies(), retry: { firstWait: 1, longestWait: 20, ...retry } });
}

function throughProxies() {
  const ports = [...proxies].map(([port, { url }]) => [port, Number(new URL(url).port)] as const);
  return Object.fromEntries(
    ports.map(([port, to]) => [`127.0.0.1:${port}`, { host: "127.0.0.1", port: to }]),
  );
}

const proxyOf = ({ port }: ClusterMember) => proxies.get(port) as Proxy;
const ownerOf = (key: string) => cluster.masterOf(hashSlot(key));
const connections = () => [...proxies.values()].reduce((sum, proxy) => sum + proxy.connections(), 0);

beforeAll(async () => {
  cluster = await startCluster();
}, 60_000);
afterAll(() => cluster.stop());
beforeEach(async () => {
  await cluster.settled();
  await cluster.empty();
  proxies = new Map();
  for (const { port } of cluster.members) proxies.set(port, await startProxy(port));
  const masters = await cluster.masters();
  transport = reach();
  for (const { redis } of masters) await command(redis, "SCRIPT", "LOAD", counted.source);
  // So that each test begins with a connection to each master.
  await transport.send(keys.map((key) => ["GET", key]));
});
afterEach(async () => {
  for (const proxy of proxies.values()) proxy.release();
  await transport.close();
  for (const proxy of proxies.values()) await proxy.stop();
});

describe("a reply that is lost", () => {
  test("is requested again, as a resend, and of the other nodes nothing is", async () => {
    proxyOf(await ownerOf(keys[1])).loseNextReply();
    expect(await transport.send(keys.map(runs))).toEqual([
      { reply: [1, "first"] },
      { reply: [2, "again"] },
      { reply: [1, "first"] },
    ]);
  });

  test("with its master is requested of the successor, as a resend (law 5)", async () => {
    const owner = await ownerOf(keys[0]);
    const proxy = proxyOf(owner);
    const held = proxy.hold();
    const sending = transport.send([runs(keys[0])]);
    await held;
    const next = await failOver(cluster, owner);
    // Without the reply.
    proxy.breakAll();
    expect(await sending).toEqual([{ reply: [2, "again"] }]);
    expect(await command(next.redis, "GET", keys[0])).toBe("2");
  });
});

describe("a redirection is no run", () => {
  test("MOVED: the first copy runs on the new owner, which gets the script's text", async () => {
    const slot = hashSlot(keys[0]);
    const to = await ownerOf(keys[1]);
    const from = await cluster.masterOf(slot);
    await migrateSlot(cluster, slot, to);
    await command(to.redis, "SCRIPT", "FLUSH");
    expect(await transport.send([runs(keys[0]), runs(keys[0])])).toEqual([
      { reply: [1, "first"] },
      { reply: [2, "first"] },
    ]);
    await migrateSlot(cluster, slot, from);
  });

  test("ASK: a script whose keys are not there yet runs on the node that gets the slot", async () => {
    const slot = hashSlot(keys[0]);
    const [from, to] = [await cluster.masterOf(slot), await ownerOf(keys[1])];
    await migrateSlot(cluster, slot, to, async () => {
      // Known nowhere, so that the node that gets the slot answers NOSCRIPT and then is asked again.
      await command(to.redis, "SCRIPT", "FLUSH");
      expect(await transport.send([runs(keys[0]), runs(keys[0])])).toEqual([
        { reply: [expect.any(Number), "first"] },
        { reply: [expect.any(Number), "first"] },
      ]);
    });
    expect(await transport.send([["GET", keys[0]]])).toEqual([{ reply: "2" }]);
    await migrateSlot(cluster, slot, from);
  });

  test("TRYAGAIN: a script waits until all its keys are on one node", async () => {
    const tag = `{${keys[0]}}`;
    const pair: Command = { script: both, keys: [`${tag}1`, `${tag}2`], args: ["x"] };
    const slot = hashSlot(tag);
    const [from, to] = [await cluster.masterOf(slot), await ownerOf(keys[1])];
    await transport.send([pair]);
    const during: Promise<unknown>[] = [];
    let rounds = 0;
    await migrateSlot(cluster, slot, to, async () => {
      // One of two keys has moved.
      if (++rounds === 2)
        during.push(
          transport.send([pair]),
          transport.send([["EXISTS", ...pair.keys] as ["EXISTS", ...string[]]]),
        );
      await sleep(50);
    });
    expect(await Promise.all(during)).toEqual([[{ reply: [2, 2, "x"] }], [{ reply: 2 }]]);
    await migrateSlot(cluster, slot, from);
  });

  test("a graceful failover under load loses and repeats nothing", async () => {
    const run = { over: false };
    let sent = 0;
    const load = async (key: string) => {
      while (!run.over) {
        expect(await transport.send([runs(key)])).toEqual([{ reply: [expect.any(Number), "first"] }]);
        sent += key === keys[0] ? 1 : 0;
      }
    };
    const loads = keys.map(load);
    const next = await failOver(cluster, await ownerOf(keys[0]));
    await sleep(200);
    run.over = true;
    await Promise.all(loads);
    expect(await command(next.redis, "GET", keys[0])).toBe(String(sent));
  });
});

describe("a node that does not answer", () => {
  test("delays its own commands alone, and keeps the connections to the others", async () => {
    await transport.close();
    transport = reach({ tryTimeout: 1_000 });
    await transport.send(keys.map((key) => ["GET", key]));
    const before = connections();
    const proxy = proxyOf(await ownerOf(keys[1]));
    const held = proxy.hold();
    const sending = transport.send(keys.map(runs));
    await held;
    const others = await Promise.all([transport.send([runs(keys[0])]), transport.send([runs(keys[2])])]);
    expect(others).toEqual([[{ reply: [2, "first"] }], [{ reply: [2, "first"] }]]);
    expect(await sending).toEqual([
      { reply: [1, "first"] },
      { reply: [2, "again"] },
      { reply: [1, "first"] },
    ]);
    expect(proxy.connections()).toBeGreaterThan(1);
    expect(connections() - before).toBeLessThanOrEqual(proxy.connections());
  });

  test("fails its own commands in the end, and the others have their answers", async () => {
    await transport.close();
    transport = reach({ tryTimeout: 2_000, tries: 2 });
    await transport.send(keys.map((key) => ["GET", key]));
    const proxy = proxyOf(await ownerOf(keys[1]));
    void proxy.hold();
    void proxy.holdNew();
    expect(await transport.send(keys.map(runs))).toEqual([
      { reply: [1, "first"] },
      { error: expect.objectContaining({ code: "redis_unreachable" }) },
      { reply: [1, "first"] },
    ]);
    await expect(transport.send([runs(keys[1])])).rejects.toMatchObject({ code: "redis_unreachable" });
  });

  test("does not keep the others from naming the slots", async () => {
    const silent = await ownerOf(keys[1]);
    void proxyOf(silent).holdNew();
    const one = reach({ tryTimeout: 2_000, tries: 1 });
    expect(await one.send([["GET", keys[0]]])).toEqual([{ reply: null }]);
    await one.close();
  });
});

describe("the caller's signal", () => {
  test("ends a request to several nodes, and leaves the connections", async () => {
    const before = connections();
    const controller = new AbortController();
    const held = proxyOf(await ownerOf(keys[1])).hold();
    const sending = transport.send(keys.map(runs), { signal: controller.signal });
    await held;
    controller.abort();
    await expect(sending).rejects.toMatchObject({ code: "aborted" });
    proxyOf(await ownerOf(keys[1])).release();
    expect(await transport.send([["GET", keys[1]]])).toEqual([{ reply: "1" }]);
    expect(connections()).toBe(before);
  });

  test("aborted while the connections are being opened sends nothing", async () => {
    const [first] = [...proxies.values()] as [Proxy];
    // A connection is open once the node has answered AUTH. This user needs no password, so any is right.
    const { host } = new URL(first.url);
    const other = resp({ nodes: [`redis://default:any@${host}`], natMap: throughProxies() });
    const opening = first.holdNew();
    const controller = new AbortController();
    const sending = other.send([runs(keys[0])], { signal: controller.signal });
    await opening;
    controller.abort();
    await expect(sending).rejects.toMatchObject({ code: "aborted" });
    first.release();
    expect(await other.send([["EXISTS", keys[0]]])).toEqual([{ reply: 0 }]);
    await sleep(50);
    expect(await other.send([["EXISTS", keys[0]]])).toEqual([{ reply: 0 }]);
    await other.close();
  });
});

describe("close", () => {
  test("waits for requests under way, ends subscriptions, and lets the process end", async () => {
    const held = proxyOf(await ownerOf(keys[1])).hold();
    const sending = transport.send(keys.map(runs));
    const messages = await transport.subscribe!("news");
    await held;
    const closing = transport.close();
    await expect(transport.send([["PING"]])).rejects.toMatchObject({ message: "the transport is closed" });
    proxyOf(await ownerOf(keys[1])).release();
    expect(await sending).toEqual(keys.map(() => ({ reply: [1, "first"] })));
    await closing;
    await expect(messages[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "redis_unreachable",
    });
  });

  test("lets the process end", async () => {
    const module = new URL("../../src/transport/resp.ts", import.meta.url).href;
    const options = { url: cluster.url, retry: PATIENT };
    const code = `
      import { resp } from ${JSON.stringify(module)};
      const transport = resp(${JSON.stringify(options)});
      const outcomes = await transport.send([["GET", "a"], ["GET", "b"], ["GET", "c"]]);
      await transport.close();
      process.stdout.write(String(outcomes.length));`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", code], { stdio: "pipe" });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const [status] = (await once(child, "close")) as [number | null];
    expect({ status, output }).toEqual({ status: 0, output: "3" });
  });
});

test("wrong credentials end the request at once, and are not shown", async () => {
  const password = "the-secret-password";
  const nodes = cluster.members.map(({ port }) => `redis://:${password}@127.0.0.1:${port}`);
  for (const { redis } of cluster.members)
    await command(redis, "CONFIG", "SET", "requirepass", "another-password");
  try {
    const one = resp({ nodes, retry: { ...PATIENT, deadline: 1e9, firstWait: 1e9 } });
    const error: unknown = await one.send([["GET", "k"]]).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "redis_unauthorized" });
    expect(String((error as Error).stack)).not.toContain(password);
    await one.close();
  } finally {
    for (const { redis } of cluster.members) await command(redis, "CONFIG", "SET", "requirepass", "");
  }
});
