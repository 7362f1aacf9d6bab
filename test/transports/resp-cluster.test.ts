import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { drain, Operator, Queue, Schedules, SluiceError, sweep } from "../../src/index.ts";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { hashSlot, slotOf } from "../../src/transports/hash-slot.ts";
import { resp } from "../../src/transports/resp.ts";
import { CLUSTER_PORTS, command, sharedCluster, type TestCluster, until } from "../support/redis-cluster.ts";
import { startRedis } from "../support/redis.ts";
import { script } from "./script.ts";

let cluster: TestCluster;
let transport: ReturnType<typeof resp>;

beforeAll(async () => {
  cluster = await sharedCluster();
  transport = resp(cluster.url);
});
beforeEach(() => cluster.empty());
afterAll(() => transport.close());

/** Keys of which each master has some. */
const keys = Array.from({ length: 30 }, (_, i) => `key-${i}`);
const note = script("note", "redis.call('RPUSH', KEYS[1], ARGV[1]) return ARGV[1]");

describe("hash slots", () => {
  test("of keys are those of Redis", async () => {
    const odd = ["", "{", "}", "{}", "{}{a}", "a{b}c", "{a}{b}", "{ö}x", "🎺", "a{b", "}{a}", "foo{}{bar}"];
    for (const key of [...keys, ...odd]) {
      const known = await command(cluster.members[0]!.redis, "CLUSTER", "KEYSLOT", key);
      expect([key, hashSlot(key)]).toEqual([key, known]);
    }
  });

  test("all keys of a queue have one", () => {
    const { queues: _, ...own } = queueKeys("emails");
    expect(new Set(Object.values(own).map(hashSlot)).size).toBe(1);
  });

  test("of commands are those of their first key", () => {
    const slot = hashSlot("k");
    expect(slotOf({ script: note, keys: ["k", "l"], args: [] })).toBe(slot);
    expect(slotOf({ script: note, keys: [], args: [] })).toBe(undefined);
    expect(slotOf(["hget", "k", "x"])).toBe(slot);
    expect(slotOf(["MEMORY", "USAGE", "k"])).toBe(slot);
    expect(slotOf(["EVAL", "return 1", "1", "k"])).toBe(slot);
    expect(slotOf(["EVAL", "return 1", "0", "k"])).toBe(undefined);
    expect(slotOf(["INFO", "server"])).toBe(undefined);
  });
});

describe("a send", () => {
  test("reaches the node of each command, and keeps the order of the outcomes", async () => {
    const calls = keys.map((key, i) => ({ script: note, keys: [key], args: [String(i)] }));
    // No node knows the script.
    expect(await transport.send(calls)).toEqual(keys.map((_, i) => ({ reply: String(i) })));
    const reads = keys.map((key) => ["LRANGE", key, "0", "-1"] as const);
    const outcomes = await transport.send([["EXISTS", ...keys] as ["EXISTS", ...string[]], ...reads]);
    const message = expect.stringContaining("CROSSSLOT") as string;
    expect(outcomes[0]).toEqual({ error: expect.objectContaining({ code: "redis_error", message }) });
    expect(outcomes.slice(1)).toEqual(keys.map((_, i) => ({ reply: [String(i)] })));
    const sizes = (await cluster.masters()).map(({ redis }) => command(redis, "DBSIZE") as Promise<number>);
    expect(await Promise.all(sizes)).not.toContain(0);
  });

  test("runs commands of one slot in order, those without a key on the node of the first key", async () => {
    const calls = Array.from({ length: 50 }, (_, i) => ({ script: note, keys: ["list"], args: [String(i)] }));
    await transport.send(calls.slice(0, 1));
    await transport.send(calls.slice(1));
    const owner = await cluster.masterOf(hashSlot("list"));
    const [list, info] = await transport.send([
      ["LRANGE", "list", "0", "-1"],
      ["INFO", "server"],
    ]);
    expect(list).toEqual({ reply: calls.map(({ args }) => args[0]) });
    expect((info as { reply: string }).reply).toContain(`tcp_port:${owner.port}\r\n`);
  });

  test("begins with any one node that answers, and finds the others", async () => {
    for (const { port } of cluster.members) {
      const one = resp({ nodes: [`redis://127.0.0.1:${port}`, "redis://127.0.0.1:1"] });
      expect(one.cluster).toBe(true);
      await one.send(keys.map((key) => ["SET", key, "1"] as const));
      await one.close();
    }
  });

  test("commands reach no replica", async () => {
    const masters = (await cluster.masters()).map(({ id }) => id);
    const replicas = cluster.members.filter(({ id }) => !masters.includes(id));
    // They may have been masters in the tests before.
    for (const { redis } of replicas) await command(redis, "CONFIG", "RESETSTAT");
    await transport.send(keys.map((key) => ["GET", key] as const));
    for (const { redis } of replicas) {
      expect(String(await command(redis, "INFO", "commandstats"))).not.toContain("cmdstat_get:");
    }
  });
});

describe("queues", () => {
  const names = Array.from({ length: 12 }, (_, i) => `queue-${i}`);

  test("on all nodes work, are swept and are found in the registry", async () => {
    for (const name of names) {
      const queue = new Queue<number>(name, { transport });
      await queue.enqueueMany([{ payload: 1 }, { payload: 2, delay: 1 }]);
    }
    const report = await sweep(transport);
    expect(report).toMatchObject({ queues: names.length, failed: [] });
    for (const name of names) {
      const queue = new Queue<number>(name, { transport });
      const seen: number[] = [];
      await drain(queue, async ({ payload }) => void seen.push(payload), { budget: "60s", wait: 0 });
      expect(seen.toSorted((one, other) => one - other)).toEqual([1, 2]);
    }
  });

  /** The transport, before whose requests `before` runs with the names of their commands. */
  const watched = (before: (names: string) => void): typeof transport => ({
    ...transport,
    async send(commands, options) {
      before(commands.map((one) => ("script" in one ? one.script.name : one[0])).join("+"));
      return transport.send(commands, options);
    },
  });

  test("a queue is registered before its first task is there (law 10)", async () => {
    const order: string[] = [];
    const noting = watched((names) => order.push(names));
    const queue = new Queue("emails", { transport: noting });
    await queue.enqueue(1);
    await queue.enqueue(2);
    await new Operator("orders", { transport: noting }).configure({ maxWorking: 5 });
    await new Schedules("nightly", { transport: noting }).put("s", { every: "1h", payload: 1 });
    expect(order).toEqual([
      "register",
      "enqueuePlain",
      "enqueuePlain",
      "register",
      "configure",
      "putSchedule",
      "setReminder",
      "putSchedule",
      "setReminder",
    ]);
  });

  test("an enqueue whose queue cannot be registered adds no task", async () => {
    const refusing = watched((names) => {
      if (names === "register") throw new SluiceError("redis_unreachable", "no answer");
    });
    const queue = new Queue("emails", { transport: refusing });
    await expect(queue.enqueue(1)).rejects.toMatchObject({ code: "redis_unreachable" });
    expect(await new Queue("emails", { transport }).counts()).toMatchObject({ pending: 0 });
  });
});

describe("subscriptions", () => {
  test("get what scripts publish on any node", async () => {
    const messages = await transport.subscribe!("news");
    for (const { redis } of await cluster.masters()) await command(redis, "PUBLISH", "news", "hello");
    const got: string[] = [];
    for await (const message of messages) if (got.push(message) === 3) break;
    expect(got).toEqual(["hello", "hello", "hello"]);
  });

  test("go to another node if one is down", async () => {
    const nodes = ["redis://127.0.0.1:1", `redis://127.0.0.1:${cluster.members[0]?.port}`];
    const one = resp({ nodes, retry: { tries: 2 } });
    const messages = await one.subscribe!("news");
    await transport.send([["PUBLISH", "news", "hello"]]);
    for await (const message of messages) {
      expect(message).toBe("hello");
      break;
    }
    await one.close();
  });
});

test("a Redis that is no cluster is refused at once", async () => {
  const single = await startRedis();
  const one = resp({ nodes: [single.url], retry: { deadline: 1e9, firstWait: 1e9 } });
  await expect(one.send([["GET", "k"]])).rejects.toMatchObject({
    code: "redis_error",
    message: expect.stringContaining("cluster support disabled"),
  });
  await one.close();
  await single.stop();
});

test("a cluster of one node answers as soon as it has slots", async () => {
  const single = await startRedis({ args: ["--cluster-enabled", "yes"], ports: CLUSTER_PORTS });
  const one = resp({ nodes: [single.url], retry: { tries: 1 } });
  await expect(one.send([["SET", "k", "v"]])).rejects.toMatchObject({
    code: "redis_unreachable",
    message: expect.stringContaining("the cluster has no slots yet"),
  });
  await command(single, "CLUSTER", "ADDSLOTSRANGE", "0", "16383");
  const info = () => command(single, "CLUSTER", "INFO");
  await until("the cluster is up", async () => String(await info()).includes("cluster_state:ok"));
  expect(await one.send([["SET", "k", "v"]])).toEqual([{ reply: "OK" }]);
  await one.close();
  await single.stop();
});
