import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { Server } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { listen } from "../../src/deploy/process/node-listener.ts";
import type { Listener } from "../../src/deploy/process/types.ts";
import { secrets, useServed } from "./served.ts";

// Clients that send requests and do not read, on connections of their own: they must cost limited time and
// memory. Node's timer of a connection, which begins anew with each byte, fires when the test says so.

const MEBIBYTE = 1024 * 1024;

const served = useServed({ onError: () => {} });
let answer: (request: Request) => Promise<Response>;
let listener: Listener;
/** The connections of the requests that have come, on the server's side. */
let asking: Socket[];
let servers: Set<Server>;
const note = (message: unknown) => {
  const { socket, server } = message as { socket: Socket; server: Server };
  asking.push(socket);
  servers.add(server);
};
const sockets: Socket[] = [];
beforeEach(async () => {
  asking = [];
  servers = new Set();
  subscribe("http.server.request.start", note);
  listener = await listen((request) => answer(request), { port: 0, hostname: "127.0.0.1" });
});
afterEach(async () => {
  unsubscribe("http.server.request.start", note);
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener.stop();
});

/** Sends a request, and reads nothing of the answer. */
async function ask(path = "/"): Promise<Socket> {
  const socket = connect(listener.port, "127.0.0.1");
  sockets.push(socket);
  await once(socket, "connect");
  socket.pause();
  socket.on("error", () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secrets.all}\r\n`);
  socket.write("Accept: text/event-stream\r\n\r\n");
  return socket;
}

/** Lets the timers of so many connections fire, once part of each answer could not be sent. */
async function timeOut(count: number): Promise<void> {
  const unsent = () => asking.filter(({ writableLength }) => writableLength > 0);
  await vi.waitUntil(() => unsent().length === count, { timeout: 20_000 });
  expect(Array.from(servers, ({ timeout }) => timeout)).toEqual([30_000]);
  for (const socket of unsent()) socket.emit("timeout");
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
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      drawn += 64 * 1024;
      controller.enqueue(new Uint8Array(64 * 1024));
    };
    answer = async () => new Response(new ReadableStream({ pull, cancel: left }));
    const many = await Promise.all([ask(), ask(), ask()]);
    await timeOut(many.length);
    await vi.waitUntil(() => left.mock.calls.length === many.length, { timeout: 20_000 });
    // Read only as far as the buffers between take it, whose size the system decides.
    expect(drawn).toBeLessThan(many.length * 24 * MEBIBYTE);
    for (const socket of many) expect(await received(socket)).toBeLessThanOrEqual(drawn);
  });

  test("is cut, even if all of it was there at once", async () => {
    answer = async () => new Response(new Uint8Array(64 * MEBIBYTE));
    const socket = await ask();
    await timeOut(1);
    expect(await received(socket)).toBeLessThan(64 * MEBIBYTE);
  });
});

test("a handler that takes longer than the limit is waited for", async () => {
  let work = (_: Response) => {};
  answer = () => new Promise((resolve) => (work = resolve));
  const socket = await ask();
  await vi.waitUntil(() => asking.length === 1, { timeout: 20_000 });
  asking[0]?.emit("timeout");
  work(new Response("done", { headers: { connection: "close" } }));
  expect(await received(socket)).toBeGreaterThan(0);
});

test("a queue's events that no client reads cost a megabyte each, then the subscription, and the connections end", async () => {
  answer = async (request) => served.app.fetch(request);
  const channel = "sluice:{q}:events";
  const listening = async () => {
    const [outcome] = await served.transport.send([["PUBSUB", "NUMSUB", channel]]);
    return outcome && "reply" in outcome && Array.isArray(outcome.reply) ? outcome.reply[1] : undefined;
  };
  const many = await Promise.all(Array.from({ length: 5 }, () => ask("/v1/queues/q/events")));
  // The streams share one subscription, which ends with the last of them.
  await vi.waitUntil(async () => (await listening()) === 1, { timeout: 20_000 });
  const message = `enqueued 1 ${"x".repeat(100)} `.padEnd(64 * 1024, "id ");
  let published = 0;
  while ((await listening()) !== 0) {
    await served.transport.send([["PUBLISH", channel, message]]);
    published += message.length;
  }
  expect(published).toBeLessThan(24 * MEBIBYTE);
  await timeOut(many.length);
  // As JSON an event is longer than as a message.
  for (const socket of many) expect(await received(socket)).toBeLessThanOrEqual(2 * published);
});
