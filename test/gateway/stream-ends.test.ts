import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { startGateway } from "../../src/local/index.ts";
import { startRedis } from "../support/redis.ts";
import { IDLE, openStream, sse, useStreams } from "./event-stream.ts";
import { failed, rest, startStack, token } from "./stack.ts";

const MEBIBYTE = 1024 * 1024;

const { its, ask, direct, stream, publish: send, untilConnections } = useStreams();
const publish = (message: string) => send("chat", message);
const gateway = () => its.stack.gateway;

describe("the connection to Redis of a stream is closed", () => {
  test.each(["/subscribe/chat", "/psubscribe/c*", "/monitor"])(
    "when the client of %s goes away",
    async (path) => {
      const streams = await Promise.all(Array.from({ length: 20 }, () => stream(path)));
      await untilConnections(IDLE + 20);
      for (const one of streams.splice(0, 19)) one.close();
      await untilConnections(IDLE + 1);
      for (const one of streams) one.close();
      await untilConnections(IDLE);
    },
  );

  test("when the client goes away before the stream is open", async () => {
    const fault = gateway().faults.add({ kind: "delay", ms: 100 });
    const client = new AbortController();
    const response = fetch(`${gateway().url}/subscribe/chat`, {
      headers: { ...sse, authorization: `Bearer ${token}` },
      signal: client.signal,
    });
    while (fault.hits === 0) await sleep(5);
    client.abort();
    await expect(response).rejects.toThrow(/abort/);
    while (gateway().usage().commands === 0) await sleep(5);
    await untilConnections(IDLE);
  });

  test("when the gateway is closed", async () => {
    const other = await startGateway({ redisUrl: its.stack.redis.url, token });
    const streams = await Promise.all(
      ["/subscribe/a/b", "/psubscribe/*", "/monitor"].map((path) => openStream({ gateway: other }, path)),
    );
    await untilConnections(IDLE + 4);
    const opening = openStream({ gateway: other }, "/subscribe/late").catch(() => undefined);
    await other.close();
    await untilConnections(IDLE);
    const last = await opening;
    for (const one of last ? [...streams, last] : streams) {
      while (![undefined, "broken"].includes(await one.next()));
    }
  });

  test("when 20 clients are 1 MiB behind, whose streams then break", async () => {
    const clients = 20;
    const sockets = await Promise.all(Array.from({ length: clients }, () => openSocket("/subscribe/chat")));
    const closed = Promise.all(sockets.map((socket) => once(socket, "close")));
    const message = "x".repeat(64 * 1024);
    await untilConnections(IDLE + clients);
    // The sockets are not read: beside the 1 MiB in the gateway, some fits into buffers whose size the system
    // decides.
    let published = 0;
    while ((await publish(message)) !== "0") published += message.length;
    expect(published).toBeLessThan(16 * MEBIBYTE);
    await untilConnections(IDLE);
    let received = 0;
    for (const socket of sockets) {
      socket.on("data", (bytes: Buffer) => (received += bytes.length));
      socket.resume();
    }
    await closed;
    expect(received).toBeLessThan(published * clients);
  });

  test("except that of a client that reads, however much comes at once", async () => {
    const one = await stream("/subscribe/chat");
    await one.next();
    const message = "x".repeat(3 * MEBIBYTE);
    for (let i = 0; i < 3; i++) {
      await publish(message);
      expect((await one.next())?.length).toBe(message.length + "message,chat,".length);
    }
  });
});

describe("a stream ends", () => {
  test("when Redis closes its connection, and a new one works", async () => {
    const subscriber = await stream("/subscribe/chat");
    const monitor = await stream("/monitor");
    expect(await subscriber.next()).toBe("subscribe,chat,1");
    expect(await monitor.next()).toBe('"OK"');
    await publish("last");
    await direct("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await direct("CLIENT", "KILL", "TYPE", "pubsub");
    expect(await subscriber.take(2)).toEqual(["message,chat,last", undefined]);
    expect(await monitor.next()).toMatch(/"PUBLISH" "chat" "last"$/);
    while ((await monitor.next()) !== undefined);
    while ((await its.stack.rest("/ping")).status !== 200) await sleep(5);
    const again = await stream("/subscribe/chat");
    expect(await again.next()).toBe("subscribe,chat,1");
  });

  test("when Redis goes down, and none opens until it is back", async () => {
    const own = await startStack({}, await startRedis());
    const streams = await Promise.all(
      ["/subscribe/chat", "/psubscribe/*"].map((path) => openStream(own, path)),
    );
    await own.redis.stop();
    for (const one of streams) {
      await one.next();
      expect(await one.next()).toBeUndefined();
    }
    const { status, json } = await rest(own.gateway.url, "/subscribe/chat", undefined, { headers: sse });
    expect([status, json]).toEqual(failed(expect.stringMatching(/^ERR Redis is not reachable: /), 500));
    await own.gateway.close();
    own.direct.close();
  });
});

describe("a fault", () => {
  const subscribed = async () => {
    const subscriber = await stream("/subscribe/chat");
    expect(subscriber.status).toBe(200);
    return subscriber;
  };

  test("lose-reply opens the stream and breaks before a byte of it", async () => {
    gateway().faults.add({ kind: "lose-reply" });
    await expect(stream("/subscribe/chat")).rejects.toThrow(TypeError);
    expect(gateway().usage()).toMatchObject({ commands: 1, requests: 1, bytesOut: 0 });
    await untilConnections(IDLE);
  });

  test("cut-body breaks the stream in the middle of its first message", async () => {
    gateway().faults.add({ kind: "cut-body" });
    const subscriber = await subscribed();
    expect(await subscriber.next()).toBe("subscribe,chat,1");
    expect(await publish("first")).toBe("1");
    expect(await subscriber.next()).toBe("broken");
    await untilConnections(IDLE);

    gateway().faults.add({ kind: "cut-body" });
    const socket = await openSocket("/subscribe/chat");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    await publish("first");
    await once(socket, "close");
    expect(text).toMatch(/data: subscribe,chat,1\n\n\r\n[0-9a-f]+\r\ndata: message\r\n$/);
  });

  test("cut-body closes the connection when the client leaves first, and ends with Redis's connection", async () => {
    gateway().faults.add({ kind: "cut-body", match: { times: 2 } });
    const first = await subscribed();
    first.close();
    await untilConnections(IDLE);
    const second = await subscribed();
    await direct("CLIENT", "KILL", "TYPE", "pubsub");
    expect(await second.take(2)).toEqual(["subscribe,chat,1", undefined]);
  });

  test("quota answers in its place", async () => {
    gateway().faults.add({ kind: "quota" });
    const refusal = await ask("/subscribe/chat", undefined, { headers: sse });
    expect(refusal).toEqual(failed(expect.stringMatching(/^ERR max requests limit exceeded\. /)));
    expect(gateway().usage().commands).toBe(0);
  });

  test("duplicate opens it twice and closes one of the two", async () => {
    for (const answer of ["first", "second"] as const) {
      gateway().faults.add({ kind: "duplicate", answer });
      const subscriber = await subscribed();
      await untilConnections(IDLE + 1);
      expect(await publish("hello")).toBe("1");
      expect(await subscriber.take(2)).toEqual(["subscribe,chat,1", "message,chat,hello"]);
      subscriber.close();
      await untilConnections(IDLE);
    }
    expect(gateway().usage()).toMatchObject({ commands: 4, requests: 4 });
  });

  test("hold opens it at its release, though its client is gone", async () => {
    const fault = gateway().faults.add({ kind: "hold" });
    await expect(stream("/subscribe/chat")).rejects.toThrow(TypeError);
    expect([fault.held, gateway().usage().commands]).toEqual([1, 0]);
    await fault.release();
    expect([fault.held, gateway().usage().commands]).toEqual([0, 1]);
    await untilConnections(IDLE);
  });
});

/** A stream over a plain socket, which is not read on its own; resolves when Redis has its subscriber. */
async function openSocket(path: string) {
  const { hostname, port } = new URL(gateway().url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write(
    `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\naccept: text/event-stream\r\n\r\n`,
  );
  while (String(await direct("PUBSUB", "NUMSUB", "chat")) === "chat,0") await sleep(5);
  return socket;
}
