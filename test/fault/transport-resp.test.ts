import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { SluiceError } from "../../src/errors.ts";
import type { Command } from "../../src/queue/redis/transport.ts";
import { resp } from "../../src/transport/resp.ts";
import type { RetryOptions } from "../../src/transport/retry.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";
import { startProxy, type Proxy } from "../transport/proxy.ts";
import { script } from "../transport/script.ts";

/** Counts its runs and returns its arguments. */
const counted = script("counted", "return { redis.call('INCR', KEYS[1]), ARGV[1] }");
const call: Command = { script: counted, keys: ["runs"], args: ["first"], resendArgs: ["again"] };
const payload = "the-secret-payload";

let redis: SharedRedis;
let proxy: Proxy;
let transport: ReturnType<typeof resp>;

function reach(url: string, retry: RetryOptions = {}) {
  return resp({ url, retry: { firstWait: 1, longestWait: 20, ...retry } });
}

async function failure(sending: Promise<unknown>): Promise<SluiceError> {
  const reason: unknown = await sending.catch((error: unknown) => error);
  if (!(reason instanceof SluiceError)) throw new Error("expected a SluiceError");
  expect(`${reason.stack} ${JSON.stringify(reason)}`).not.toContain(payload);
  return reason;
}

/** A server of a test's own that is no Redis. */
async function listening(onConnection: (socket: Socket) => void) {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    onConnection(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

beforeAll(async () => {
  redis = await sharedRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  proxy = await startProxy(redis.port);
  transport = reach(proxy.url);
  const direct = resp(redis.url);
  // Known from the start, so that a test counts only its own requests.
  await direct.send([["FLUSHALL"], ["SCRIPT", "LOAD", counted.source]]);
  await direct.close();
});
afterEach(async () => {
  proxy.release();
  await transport.close();
  await proxy.stop();
});

describe("the connection", () => {
  test("is opened by the first send, and shared by all that run at the same time", async () => {
    expect(proxy.connections()).toBe(0);
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, index) => transport.send([["ECHO", `${index}`]])),
    );
    expect(outcomes).toEqual(Array.from({ length: 200 }, (_, index) => [{ reply: `${index}` }]));
    expect(proxy.connections()).toBe(1);
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

  test("that broke while unused is opened again", async () => {
    await transport.send([["PING"]]);
    proxy.breakAll();
    expect(await transport.send([["PING"]])).toEqual([{ reply: "PONG" }]);
    expect(proxy.connections()).toBe(2);
  });

  test("leads to the server that replaced the one that died", async () => {
    const other = await startRedis();
    try {
      await transport.send([call]);
      proxy.leadTo(other.port);
      proxy.breakAll();
      // The other server does not know the script.
      expect(await transport.send([call])).toEqual([{ reply: [1, expect.any(String)] }]);
    } finally {
      await other.stop();
    }
  });
});

describe("a reply that is lost", () => {
  test("is requested again, as a resend", async () => {
    proxy.loseNextReply();
    // Both copies ran.
    expect(await transport.send([call])).toEqual([{ reply: [2, "again"] }]);
    expect(proxy.connections()).toBe(2);
  });

  test("loses no other request on the connection", async () => {
    await transport.send([["PING"]]);
    proxy.loseNextReply();
    const sends = Array.from({ length: 50 }, (_, index) => transport.send([["ECHO", `${index}`]]));
    expect(await Promise.all(sends)).toEqual(
      Array.from({ length: 50 }, (_, index) => [{ reply: `${index}` }]),
    );
  });

  test("every time fails and says why", async () => {
    const deaf = await listening((socket) => socket.on("data", () => socket.destroy()));
    const one = reach(deaf.url, { tries: 3 });
    const { code, message } = await failure(one.send([["ECHO", payload]]));
    expect(code).toBe("redis_unreachable");
    expect(message).toMatch(/in 3 tries over \d+ ms; the last time: a network error \(/);
    await one.close();
    deaf.close();
  });
});

describe("a server that does not answer", () => {
  test("in time gets a new connection", async () => {
    await transport.close();
    transport = reach(proxy.url, { tryTimeout: 250 });
    await transport.send([["PING"]]);
    const held = proxy.hold();
    const sending = transport.send([call]);
    await held;
    expect(await sending).toEqual([{ reply: [expect.any(Number), "again"] }]);
    expect(proxy.connections()).toBeGreaterThan(1);
  });

  test("at all fails after its tries, or at the deadline", async () => {
    const silent = await listening((socket) => socket.resume());
    const trying = reach(silent.url, { tryTimeout: 50, tries: 2 });
    const tried = await failure(trying.send([["ECHO", payload]]));
    expect(tried.code).toBe("redis_unreachable");
    expect(tried.message).toMatch(/in 2 tries over \d+ ms; the last time: no answer within 50 ms$/);
    await trying.close();

    const waiting = reach(silent.url, { deadline: 50 });
    const waited = await failure(waiting.send([["ECHO", payload]]));
    expect(waited.code).toBe("redis_unreachable");
    expect(waited.message).toMatch(/in \d+ tr(?:y|ies) over \d+ ms; the last time: no answer within \d+ ms$/);
    await waiting.close();
    silent.close();
  });

  test("because there is none fails too", async () => {
    const gone = await startRedis();
    await gone.stop();
    const one = reach(gone.url, { tries: 3 });
    const { code, message } = await failure(one.send([["ECHO", payload]]));
    expect(code).toBe("redis_unreachable");
    expect(message).toContain("a network error (ECONNREFUSED)");
    await one.close();
  });

  test("yet, because it is loading, is asked again", async () => {
    const replies = ["-LOADING Redis is loading the dataset in memory\r\n", "+ready\r\n"];
    const loading = await listening((socket) => socket.on("data", () => socket.write(replies.shift() ?? "")));
    const one = reach(loading.url);
    expect(await one.send([["PING"]])).toEqual([{ reply: "ready" }]);
    await one.close();
    loading.close();
  });
});

describe("the caller's signal", () => {
  test("ends a request and leaves the connection to the others", async () => {
    await transport.send([["PING"]]);
    const controller = new AbortController();
    const held = proxy.hold();
    const sending = transport.send([["ECHO", payload]], { signal: controller.signal });
    const other = transport.send([["ECHO", "other"]]);
    await held;
    controller.abort();
    expect((await failure(sending)).code).toBe("aborted");
    proxy.release();
    expect(await other).toEqual([{ reply: "other" }]);
    expect(proxy.connections()).toBe(1);
  });

  test("aborted while the connection is being opened sends nothing", async () => {
    // A connection is open once Redis has answered the choice of a database.
    const other = reach(`${proxy.url}/1`);
    const controller = new AbortController();
    const opening = proxy.holdNew();
    const sending = other.send([call], { signal: controller.signal });
    await opening;
    controller.abort();
    expect((await failure(sending)).code).toBe("aborted");
    proxy.release();
    expect(await other.send([["EXISTS", "runs"]])).toEqual([{ reply: 0 }]);
    expect(proxy.connections()).toBe(1);
    await other.close();
  });

  test("aborted before opens no connection", async () => {
    const sending = transport.send([call], { signal: AbortSignal.abort() });
    expect((await failure(sending)).code).toBe("aborted");
    expect(proxy.connections()).toBe(0);
  });
});

describe("credentials", () => {
  const password = "the-secret-password";
  let guarded: TestRedis;
  beforeAll(async () => {
    guarded = await startRedis();
    const admin = resp(guarded.url);
    await admin.send([["CONFIG", "SET", "requirepass", password]]);
    await admin.close();
  });
  afterAll(() => guarded.stop());

  test("in the URL are used", async () => {
    const one = reach(`redis://:${password}@127.0.0.1:${guarded.port}`);
    expect(await one.send([["PING"]])).toEqual([{ reply: "PONG" }]);
    await one.close();
  });

  test("that are wrong end the request at once, and are not shown", async () => {
    const one = reach(`redis://:${password}-not@127.0.0.1:${guarded.port}`, {
      deadline: 1e9,
      firstWait: 1e9,
    });
    const error = await failure(one.send([call]));
    expect(error.code).toBe("redis_unauthorized");
    expect(`${error.stack}`).not.toContain(password);
    await one.close();
  });

  test("that are missing end the request at once too", async () => {
    const one = reach(guarded.url, { deadline: 1e9, firstWait: 1e9 });
    expect(await one.send([call])).toMatchObject([{ error: { code: "redis_unauthorized" } }]);
    await one.close();
  });
});

describe("close", () => {
  test("without a connection does nothing", async () => {
    await transport.close();
    await transport.close();
    expect(proxy.connections()).toBe(0);
  });

  test("waits for the requests under way, and refuses those after it", async () => {
    await transport.send([["PING"]]);
    const held = proxy.hold();
    const sending = transport.send([call]);
    await held;
    const closing = transport.close();
    const { code, message } = await failure(transport.send([call]));
    expect({ code, message }).toEqual({ code: "redis_unreachable", message: "the transport is closed" });
    proxy.release();
    expect(await sending).toEqual([{ reply: [1, "first"] }]);
    await closing;
  });

  test("lets the process end", async () => {
    const module = new URL("../../src/transport/resp.ts", import.meta.url).href;
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
