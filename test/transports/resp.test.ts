import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";

import type { Command } from "../../src/kernel/transport.ts";
import { resp } from "../../src/transports/resp.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";
import { startProxy, type Proxy } from "./proxy.ts";
import { script } from "./script.ts";

// What only one connection has. What it has in common with other transports: test/proofs/conformance.

/** Counts its runs and returns its arguments. */
const counted = script("counted", "return { redis.call('INCR', KEYS[1]), ARGV[1] }");
const call: Command = { script: counted, keys: ["runs"], args: ["first"], resendArgs: ["again"] };

let redis: SharedRedis;
let proxy: Proxy;
let transport: ReturnType<typeof resp>;

beforeAll(async () => {
  redis = await sharedRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  proxy = await startProxy(redis.port);
  transport = resp(proxy.url);
  // Known from the start, so that a test counts only its own requests.
  const direct = resp(redis.url);
  await direct.send([["FLUSHALL"], ["SCRIPT", "LOAD", counted.source]]);
  await direct.close();
});
afterEach(async () => {
  proxy.release();
  await transport.close();
  await proxy.stop();
});

describe("the connection", () => {
  test("is opened by the first send, shared by all that run at the same time, and opened again if it broke", async () => {
    expect(proxy.connections()).toBe(0);
    for (const opened of [1, 2]) {
      const sends = Array.from({ length: 200 }, (_, i) => transport.send([["ECHO", `${i}`]]));
      expect(await Promise.all(sends)).toEqual(sends.map((_, i) => [{ reply: `${i}` }]));
      expect(proxy.connections()).toBe(opened);
      proxy.breakAll();
    }
  });

  test("passes on a few answers in each turn of the event loop, so that Redis works on the next calls meanwhile", async () => {
    await transport.send([["PING"]]);
    const perTurn: number[] = [0];
    let over = false;
    const count = () => {
      perTurn.push(0);
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    const sends = Array.from({ length: 200 }, async () => {
      await transport.send([["PING"]]);
      perTurn[perTurn.length - 1]!++;
    });
    await Promise.all(sends);
    over = true;
    // Ten that arrive in a turn, and ten that waited for it.
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(20);
  });
});

describe("the caller's signal", () => {
  test("leaves the connection to the others", async () => {
    await transport.send([["PING"]]);
    const controller = new AbortController();
    const held = proxy.hold();
    const sending = transport.send([["ECHO", "x"]], { signal: controller.signal });
    const other = transport.send([["ECHO", "other"]]);
    await held;
    controller.abort();
    await expect(sending).rejects.toMatchObject({ code: "aborted" });
    proxy.release();
    expect(await other).toEqual([{ reply: "other" }]);
    expect(proxy.connections()).toBe(1);
  });

  test("aborted while the connection is being opened sends nothing", async () => {
    // A connection is open once Redis has answered the choice of a database.
    const other = resp(`${proxy.url}/1`);
    onTestFinished(() => other.close());
    const controller = new AbortController();
    const opening = proxy.holdNew();
    const sending = other.send([call], { signal: controller.signal });
    await opening;
    controller.abort();
    await expect(sending).rejects.toMatchObject({ code: "aborted" });
    proxy.release();
    expect(await other.send([["EXISTS", "runs"]])).toEqual([{ reply: 0 }]);
    expect(proxy.connections()).toBe(1);
  });
});

test("credentials in the URL are used; if there are none, the request ends at once", async () => {
  await transport.send([["CONFIG", "SET", "requirepass", "secret"]]);
  const known = resp(redis.url.replace("//", "//:secret@"));
  const stranger = resp({ url: redis.url, retry: { deadline: 1e9, firstWait: 1e9 } });
  try {
    expect(await known.send([["PING"]])).toEqual([{ reply: "PONG" }]);
    expect(await stranger.send([call])).toMatchObject([{ error: { code: "redis_unauthorized" } }]);
  } finally {
    await transport.send([["CONFIG", "SET", "requirepass", ""]]);
    await Promise.all([known.close(), stranger.close()]);
  }
});

describe("close", () => {
  test("without a connection does nothing", async () => {
    await transport.close();
    await transport.close();
    expect(proxy.connections()).toBe(0);
  });

  test("after the last request waits for nothing", async () => {
    await transport.send([["PING"]]);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    await transport.close();
    await expect.poll(() => proxy.open()).toBe(0);
  });

  test("waits for the requests under way, and refuses those after it", async () => {
    await transport.send([["PING"]]);
    const held = proxy.hold();
    const sending = transport.send([call]);
    await held;
    const closing = transport.close();
    await expect(transport.send([call])).rejects.toMatchObject({
      code: "redis_unreachable",
      message: "the transport is closed",
    });
    proxy.release();
    expect(await sending).toEqual([{ reply: [1, "first"] }]);
    await closing;
  });

  test("lets the process end", async () => {
    const module = new URL("../../src/transports/resp.ts", import.meta.url).href;
    const code = `
      import { resp } from ${JSON.stringify(module)};
      const transport = resp(${JSON.stringify(proxy.url)});
      const [outcome] = await transport.send([["PING"]]);
      await transport.close();
      process.stdout.write(outcome.reply);`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", code], { stdio: "pipe" });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const [status] = (await once(child, "close")) as [number | null];
    expect({ status, output }).toEqual({ status: 0, output: "PONG" });
  });
});

describe("the error of a Redis that does not answer names host and port, and no password", () => {
  const failure = async (url: string) => {
    const one = resp({ url, retry: { deadline: 600, tryTimeout: 300 } });
    const error: unknown = await one.send([["PING"]]).catch((reason: unknown) => reason);
    await one.close();
    return error;
  };
  const unreachable = (host: string, cause: string) => ({
    code: "redis_unreachable",
    message: expect.stringMatching(
      new RegExp(`^Redis at ${host} gave no useful answer in .*; the last time: ${cause}$`),
    ) as string,
  });

  test("of a server that is not there", async () => {
    const refused = "a network error \\(ECONNREFUSED\\)";
    expect(await failure("redis://me:secret@127.0.0.1:1/3")).toMatchObject(
      unreachable("127.0.0.1:1", refused),
    );
    expect(await failure("rediss://me:secret@127.0.0.1:1")).toMatchObject(
      unreachable("127.0.0.1:1", refused),
    );
    expect(await failure("cluster://:secret@127.0.0.1:1,127.0.0.1:2")).toMatchObject(
      unreachable("127.0.0.1:1, 127.0.0.1:2", ".*"),
    );
  });

  test("of one without TLS that is asked for TLS", async () => {
    const address = `127.0.0.1:${redis.port}`;
    const cause = ".* \\(does this Redis use TLS\\? If not, its URL begins with redis://\\)";
    expect(await failure(`rediss://:secret@${address}`)).toMatchObject(unreachable(address, cause));
  });

  test("of one that ends the connection at the greeting, as with TLS", async () => {
    const server = createServer((socket) => void socket.once("data", () => socket.destroy()));
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cause = ".* \\(does this Redis use TLS\\? Then its URL begins with rediss://\\)";
    // Again until a connection came about within the deadline, for which this machine may be too busy.
    await expect
      .poll(() => failure(`redis://:secret@${address}`), { timeout: 60_000 })
      .toMatchObject(unreachable(address, cause));
  });

  test("of one that has answered before, without a word of TLS", async () => {
    const one = resp({ url: proxy.url, retry: { tries: 2 } });
    await one.send([["PING"]]);
    await proxy.stop();
    await expect(one.send([["PING"]])).rejects.toMatchObject(
      unreachable(`127.0.0.1:${new URL(proxy.url).port}`, "a network error \\(\\w+\\)"),
    );
  });
});
