import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HEADER_BOUNDS, listen } from "../../serverless/process/node-listener.ts";
import type { Listener } from "../../serverless/process/process.ts";
import { createApp } from "../../src/http/app.ts";
import { resp } from "../../src/transport/resp.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";
import { secrets, tokens } from "./served.ts";

// Clients that send requests and do not read, on connections of their own: they must cost limited time and
// memory.

const UNREAD = 200;
const MEBIBYTE = 1024 * 1024;

let answer: (request: Request) => Promise<Response>;
let listener: Listener;
const sockets: Socket[] = [];
beforeEach(async () => {
  const at = { port: 0, hostname: "127.0.0.1" };
  listener = await listen((request) => answer(request), at, HEADER_BOUNDS, UNREAD);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener.stop();
});

/** Sends a request, and reads nothing of the answer. */
async function asked(path = "/"): Promise<Socket> {
  const socket = connect(listener.port, "127.0.0.1");
  sockets.push(socket);
  await once(socket, "connect");
  socket.pause();
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secrets.all}\r\n`);
  socket.write("Accept: text/event-stream\r\n\r\n");
  return socket;
}

/** How many bytes arrive from now on, until the connection ends. */
async function received(socket: Socket): Promise<number> {
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
  socket.resume();
  await once(socket, "close");
  return bytes;
}

describe("an answer that no client reads", () => {
  test("is dropped, and the source of its stream is cancelled", async () => {
    let drawn = 0;
    const left = vi.fn<() => void>();
    const body = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          drawn += 64 * 1024;
          controller.enqueue(new Uint8Array(64 * 1024));
        },
        cancel: left,
      });
    answer = async () => new Response(body());
    const many = await Promise.all([asked(), asked(), asked()]);
    await vi.waitUntil(() => left.mock.calls.length === many.length, { timeout: 20_000 });
    // Read only as far as the buffers between take it, whose size the system decides.
    expect(drawn).toBeLessThan(many.length * 24 * MEBIBYTE);
    for (const socket of many) expect(await received(socket)).toBeLessThanOrEqual(drawn);
  });

  test("is cut, even if all of it was there at once", async () => {
    answer = async () => new Response(new Uint8Array(64 * MEBIBYTE));
    const socket = await asked();
    await sleep(10 * UNREAD);
    expect(await received(socket)).toBeLessThan(64 * MEBIBYTE);
  });
});

test("a handler that takes longer than the limit is waited for, and so is a client that reads slowly", async () => {
  // The client is in this process, so that a busy machine delays it too.
  const limit = 5 * UNREAD;
  await listener.stop();
  listener = await listen(
    (request) => answer(request),
    { port: 0, hostname: "127.0.0.1" },
    HEADER_BOUNDS,
    limit,
  );
  answer = async () => {
    await sleep(1.5 * limit);
    return new Response(new Uint8Array(16 * MEBIBYTE));
  };
  const socket = await asked();
  let bytes = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes >= 16 * MEBIBYTE) break;
    if (bytes % 8 === 0) await sleep(1);
  }
  expect(bytes).toBeGreaterThanOrEqual(16 * MEBIBYTE);
});

describe("a queue's events that no client reads", () => {
  let redis: SharedRedis;
  let transport: ReturnType<typeof resp>;
  beforeEach(async () => {
    redis = await sharedRedis();
    transport = resp(redis.url);
    const app = createApp({ transport, tokens, onError: () => {} });
    answer = async (request) => app.fetch(request);
  });
  afterEach(async () => {
    await transport.close();
    await redis.stop();
  });

  test("cost a megabyte each, then the subscription, and the connections end", async () => {
    const channel = "sluice:{q}:events";
    const listening = async () => {
      const [outcome] = await transport.send([["PUBSUB", "NUMSUB", channel]]);
      return outcome && "reply" in outcome && Array.isArray(outcome.reply) ? outcome.reply[1] : undefined;
    };
    const many = await Promise.all(Array.from({ length: 5 }, () => asked("/v1/queues/q/events")));
    // The streams share one subscription, which ends with the last of them.
    await vi.waitUntil(async () => (await listening()) === 1, { timeout: 20_000 });
    const message = `enqueued 1 ${"x".repeat(100)} `.padEnd(64 * 1024, "id ");
    let published = 0;
    while ((await listening()) !== 0) {
      await transport.send([["PUBLISH", channel, message]]);
      published += message.length;
    }
    expect(published).toBeLessThan(24 * MEBIBYTE);
    // No client has read, and every connection has ended.
    await listener.stop();
    // As JSON an event is longer than as a message.
    for (const socket of many) expect(await received(socket)).toBeLessThanOrEqual(2 * published);
    listener = await listen(answer, { port: 0, hostname: "127.0.0.1" });
  });
});
