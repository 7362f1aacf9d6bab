import { createServer } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { drain, Queue } from "../../src/index.ts";
import type { Command } from "../../src/kernel/transport.ts";
import { resp } from "../../src/transports/resp.ts";
import { listening } from "../support/listening.ts";
import { startNamedRedis, type NamedRedis } from "../support/named-redis.ts";
import { command, until } from "../support/redis-cluster.ts";
import { script } from "./script.ts";

const noted = script("noted", "redis.call('RPUSH', KEYS[1], ARGV[1]) return ARGV[1]");
const note: Command = { script: noted, keys: ["notes"], args: ["first"], resendArgs: ["again"] };
const notes = (redis: { url: string }) => command(redis, "LRANGE", "notes", "0", "-1");
const retry = { firstWait: 1, longestWait: 20, deadline: 60_000, tryTimeout: 60_000 };

describe("a name that leads to another master, while the old one stays as a replica", () => {
  let named: NamedRedis;
  let transport: ReturnType<typeof resp>;
  beforeEach(async () => {
    named = await startNamedRedis();
    transport = resp({ url: named.url, retry });
  });
  afterEach(async () => {
    await transport.close();
    await named.stop();
  });

  test("is followed by a script that the replica refuses, which has run once, as a resend", async () => {
    await transport.send([["PING"]]);
    await named.failOver();
    expect(await transport.send([note])).toEqual([{ reply: "again" }]);
    expect(await notes(named.replica)).toEqual(["again"]);
    expect(named.proxy.connections()).toBe(2);
  });

  test("is followed by a queue and by a subscription opened afterwards", async () => {
    const queue = new Queue<number>("q", { transport });
    await queue.enqueue(1);
    const [held] = await queue.dequeue();
    await named.failOver();
    expect(await held?.complete()).toMatchObject({ ok: true, state: "completed" });
    await queue.enqueueMany([2, 3].map((payload) => ({ payload })));
    const handled: number[] = [];
    await drain(queue, async ({ payload }) => void handled.push(payload), { budget: "60s", wait: 0 });
    expect(handled).toEqual([2, 3]);
    expect(await queue.counts()).toMatchObject({ pending: 0, working: 0, rejected: 0 });
    const messages = await transport.subscribe?.("channel");
    await command(named.replica, "PUBLISH", "channel", "hello");
    expect(await messages?.[Symbol.asyncIterator]().next()).toMatchObject({ value: "hello" });
  });

  test("is waited for while the master has too few replicas: what it refuses is not written", async () => {
    await command(named.master, "CONFIG", "SET", "min-replicas-to-write", "2");
    const sending = transport.send([note]);
    await until("the script was refused", async () =>
      String(await command(named.master, "INFO", "errorstats")).includes("errorstat_NOREPLICAS"),
    );
    expect(await notes(named.master)).toEqual([]);
    await command(named.master, "CONFIG", "SET", "min-replicas-to-write", "0");
    expect(await sending).toEqual([{ reply: "again" }]);
    expect(await notes(named.master)).toEqual(["again"]);
  });
});

describe("a connection", () => {
  let url: string;
  let lines: readonly (readonly string[])[];
  let opened: number;
  const server = createServer((socket) => {
    const replies = [...(lines[opened++] ?? [])];
    socket.on("error", () => undefined);
    // Each command is one PING.
    socket.on("data", (chunk) => {
      for (let i = chunk.toString().split("PING").length - 1; i > 0; i--)
        socket.write(`${replies.shift() ?? "+end"}\r\n`);
    });
  });
  beforeAll(async () => {
    url = `redis://127.0.0.1:${await listening(server)}`;
  });
  afterAll(() => void server.close());
  beforeEach(() => (opened = 0));

  test.each([
    ["left", "READONLY You can't write against a read only replica."],
    ["left", "READONLY You can't write against a read only replica. script: 0af1, on @user_script:1."],
    [
      "left",
      "ERR Error running script (call to f_0af1): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.",
    ],
    ["left", "NOREPLICAS Not enough good replicas to write."],
    ["left", "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."],
    ["left", "LOADING Redis is loading the dataset in memory"],
    ["left", "CLUSTERDOWN The cluster is down"],
    ["kept", "BUSY Redis is busy running a script."],
    ["kept", "TRYAGAIN Multiple keys request during rehashing of slot"],
  ])("is %s after %s", async (end, text) => {
    lines = [[`-${text}`, "+kept"], ["+left"]];
    const transport = resp({ url, retry });
    expect(await transport.send([["PING"]])).toEqual([{ reply: end }]);
    await transport.close();
  });

  test("that is left still answers what was sent on it before", async () => {
    lines = [["-READONLY You can't write against a read only replica.", "+read"], ["+written"]];
    const transport = resp({ url, retry });
    const answers = await Promise.all([transport.send([["PING"]]), transport.send([["PING"]])]);
    expect(answers).toEqual([[{ reply: "written" }], [{ reply: "read" }]]);
    expect(opened).toBe(2);
    await transport.close();
  });
});
