import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Command } from "../../src/kernel/transport.ts";
import type { RetryOptions } from "../../src/transports/retry.ts";
import { hashSlot } from "../../src/transports/hash-slot.ts";
import { resp } from "../../src/transports/resp.ts";
import { failOver, migrateSlot } from "../support/cluster-changes.ts";
import { inOwnTime, passingAfter, TRY } from "../support/own-time.ts";
import { command, sharedCluster, type TestCluster } from "../support/redis-cluster.ts";
import { startProxies, type ProxiedCluster } from "./proxied-cluster.ts";
import { script } from "./script.ts";

// What several nodes have that one has not. What a cluster has in common with other transports: test/proofs/conformance.

/** Counts its runs and returns its arguments. */
const counted = script("counted", "return { redis.call('INCR', KEYS[1]), ARGV[1] }");
const both = script("both", "return { redis.call('INCR', KEYS[1]), redis.call('INCR', KEYS[2]), ARGV[1] }");
const runs = (key: string): Command => ({
  script: counted,
  keys: [key],
  args: ["first"],
  resendArgs: ["again"],
});
const PATIENT = { firstWait: 0, longestWait: 0, tryTimeout: TRY, deadline: 100 * TRY };
const once = { reply: [1, "first"] };

let cluster: TestCluster;
let proxied: ProxiedCluster;
let transport: ReturnType<typeof resp>;
/** Keys of three masters: each has a third of the slots. */
const keys = ["b", "c", "a"] as [string, string, string];

const reach = (retry: RetryOptions = {}) => resp({ ...proxied.options, retry: { ...PATIENT, ...retry } });
const ownerOf = (key: string) => cluster.masterOf(hashSlot(key));
const connections = () => proxied.proxies.reduce((sum, proxy) => sum + proxy.connections(), 0);

beforeAll(async () => {
  cluster = await sharedCluster();
});
beforeEach(async () => {
  await cluster.settled();
  await cluster.empty();
  proxied = await startProxies(cluster);
  transport = reach();
  for (const { redis } of await cluster.masters()) await command(redis, "SCRIPT", "LOAD", counted.source);
  // So that each test begins with a connection to each master.
  await transport.send(keys.map((key) => ["GET", key]));
});
afterEach(async () => {
  for (const proxy of proxied.proxies) proxy.release();
  await transport.close();
  await proxied.stop();
});
afterAll(() => cluster.settled());

describe("a reply that is lost", () => {
  test("is requested again, as a resend, and of the other nodes nothing is", async () => {
    (await proxied.proxyOf(keys[1])).loseReplies();
    expect(await transport.send(keys.map(runs))).toEqual([once, { reply: [2, "again"] }, once]);
  });

  test("with its master is requested of the successor, as a resend (law 5)", async () => {
    const owner = await ownerOf(keys[0]);
    const proxy = await proxied.proxyOf(keys[0]);
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
  /** Moves the slot of a key to another master, and back when the test is over. */
  async function moved(key: string, between?: () => Promise<unknown>) {
    const [from, to] = [await ownerOf(key), await ownerOf(keys[1])];
    onTestFinished(() => migrateSlot(cluster, hashSlot(key), from));
    await migrateSlot(cluster, hashSlot(key), to, between && (() => between()));
    return to;
  }

  test("MOVED: the first copy runs on the new owner, which gets the script's text", async () => {
    const to = await moved(keys[0]);
    await command(to.redis, "SCRIPT", "FLUSH");
    expect(await transport.send([runs(keys[0]), runs(keys[0])])).toEqual([once, { reply: [2, "first"] }]);
  });

  test("ASK: a script whose keys are not there yet runs on the node that gets the slot", async () => {
    // Known nowhere, so that the node that gets the slot answers NOSCRIPT and then is asked again.
    for (const { redis } of await cluster.masters()) await command(redis, "SCRIPT", "FLUSH");
    await moved(keys[0], async () => {
      const first = { reply: [expect.any(Number), "first"] };
      expect(await transport.send([runs(keys[0]), runs(keys[0])])).toEqual([first, first]);
    });
    expect(await transport.send([["GET", keys[0]]])).toEqual([{ reply: "2" }]);
  });

  test("TRYAGAIN: a script waits until all its keys are on one node", async () => {
    const tag = `{${keys[0]}}`;
    const pair: Command = { script: both, keys: [`${tag}1`, `${tag}2`], args: ["x"] };
    await transport.send([pair]);
    const during: Promise<unknown>[] = [];
    let rounds = 0;
    await moved(tag, async () => {
      // One of two keys has moved.
      if (++rounds === 2) during.push(transport.send([pair]), transport.send([["EXISTS", ...pair.keys]]));
      await sleep(50);
    });
    expect(await Promise.all(during)).toEqual([[{ reply: [2, 2, "x"] }], [{ reply: 2 }]]);
  });

  test("a graceful failover under load loses and repeats nothing", async () => {
    const run = { over: false, sent: 0 };
    const load = async (key: string) => {
      while (!run.over) {
        expect(await transport.send([runs(key)])).toEqual([{ reply: [expect.any(Number), "first"] }]);
        run.sent += key === keys[0] ? 1 : 0;
      }
    };
    const loads = keys.map(load);
    const next = await failOver(cluster, await ownerOf(keys[0]));
    for (const enough = run.sent + 20; run.sent < enough;) await sleep(5);
    run.over = true;
    await Promise.all(loads);
    expect(await command(next.redis, "GET", keys[0])).toBe(String(run.sent));
  });
});

describe("a node that does not answer", () => {
  /** Resolves when the others have answered what was sent before, too. */
  const askOthers = () => Promise.all([keys[0], keys[2]].map((key) => transport.send([["GET", key]])));

  test("delays its own commands alone, and keeps the connections to the others", async () => {
    const [first, proxy, last] = await Promise.all(keys.map((key) => proxied.proxyOf(key)));
    const before = [first, last].map((each) => each!.connections());
    const others = proxy!.hold().then(askOthers);
    const sending = inOwnTime(() => transport.send(keys.map(runs)), passingAfter(others, TRY));
    expect(await sending).toEqual([once, { reply: [2, "again"] }, once]);
    expect(await others).toEqual([[{ reply: "1" }], [{ reply: "1" }]]);
    expect([first, last].map((each) => each!.connections())).toEqual(before);
  });

  test("fails its own commands in the end, and the others have their answers", async () => {
    await transport.close();
    transport = reach({ tries: 2 });
    await transport.send(keys.map((key) => ["GET", key]));
    const proxy = await proxied.proxyOf(keys[1]);
    void proxy.holdNew();
    const passing = passingAfter(proxy.hold().then(askOthers), TRY, 1_000);
    expect(await inOwnTime(() => transport.send(keys.map(runs)), passing)).toEqual([
      once,
      { error: expect.objectContaining({ code: "redis_unreachable" }) },
      once,
    ]);
    const alone = inOwnTime(() => transport.send([runs(keys[1])]), passing);
    await expect(alone).rejects.toMatchObject({ code: "redis_unreachable" });
  });

  test("does not keep the others from naming the slots", async () => {
    void (await proxied.proxyOf(keys[1])).holdNew();
    const one = reach({ tries: 1 });
    expect(await one.send([["GET", keys[0]]])).toEqual([{ reply: null }]);
    await one.close();
  });
});

test("a node that only the cluster names keeps its connection from request to request", async () => {
  const { nodes, natMap } = proxied.options;
  const one = resp({ nodes: nodes.slice(0, 1), natMap });
  const reads = keys.map((key): Command => ["GET", key]);
  await one.send(reads);
  const before = connections();
  await one.send(reads);
  expect(connections()).toBe(before);
  await one.close();
});

describe("the caller's signal", () => {
  test("ends a request to several nodes, and leaves the connections", async () => {
    const before = connections();
    const controller = new AbortController();
    const proxy = await proxied.proxyOf(keys[1]);
    const held = proxy.hold();
    const sending = transport.send(keys.map(runs), { signal: controller.signal });
    await held;
    controller.abort();
    await expect(sending).rejects.toMatchObject({ code: "aborted" });
    proxy.release();
    expect(await transport.send([["GET", keys[1]]])).toEqual([{ reply: "1" }]);
    expect(connections()).toBe(before);
  });

  test("aborted while the connections are being opened sends nothing", async () => {
    // A connection is open once the node has answered AUTH. This user needs no password, so any is right.
    const [first] = proxied.proxies;
    const { host } = new URL(first!.url);
    const other = resp({ ...proxied.options, nodes: [`redis://default:any@${host}`] });
    const opening = first!.holdNew();
    const controller = new AbortController();
    const sending = other.send([runs(keys[0])], { signal: controller.signal });
    await opening;
    controller.abort();
    await expect(sending).rejects.toMatchObject({ code: "aborted" });
    first!.release();
    expect(await other.send([["EXISTS", keys[0]]])).toEqual([{ reply: 0 }]);
    await sleep(50);
    expect(await other.send([["EXISTS", keys[0]]])).toEqual([{ reply: 0 }]);
    await other.close();
  });
});

test("close waits for requests under way, ends subscriptions, and leaves no connection", async () => {
  const proxy = await proxied.proxyOf(keys[1]);
  const held = proxy.hold();
  const sending = transport.send(keys.map(runs));
  const messages = await transport.subscribe!("news");
  await held;
  const closing = transport.close();
  await expect(transport.send([["PING"]])).rejects.toMatchObject({ message: "the transport is closed" });
  proxy.release();
  expect(await sending).toEqual([once, once, once]);
  await closing;
  const next = messages[Symbol.asyncIterator]().next();
  expect(await next).toEqual({ done: true, value: undefined });
  await expect.poll(() => proxied.proxies.reduce((sum, each) => sum + each.open(), 0)).toBe(0);
});
