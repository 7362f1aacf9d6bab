import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HEADER_BOUNDS, listen } from "../../serverless/process/node-listener.ts";
import type { Listener } from "../../serverless/process/process.ts";

// Node checks connections at intervals only: both figures together are how long headers may take.

const fetch = vi.fn(async () => new Response("ok"));
const sockets: Socket[] = [];
let listener: Listener;
beforeEach(async () => {
  const bounds = { headersTimeout: 100, connectionsCheckingInterval: 20 };
  listener = await listen(fetch, { port: 0, hostname: "127.0.0.1" }, bounds);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener.stop();
  fetch.mockClear();
});

/** All that a connection receives until its end; "a reset" if it is reset before it received anything. */
async function reported(socket: Socket): Promise<string> {
  let text = "";
  let end = "";
  socket.on("data", (chunk) => (text += chunk.toString()));
  socket.on("error", (error: NodeJS.ErrnoException) => {
    expect(error.code).toMatch(/^(ECONNRESET|EPIPE)$/);
    end = "a reset";
  });
  await new Promise((resolve) => socket.once("close", resolve));
  return text || end;
}

async function open(): Promise<Socket> {
  const socket = connect(listener.port, "127.0.0.1");
  sockets.push(socket);
  await once(socket, "connect");
  return socket;
}

const HEAD = "POST /v1/queues/q/tasks HTTP/1.1\r\nHost: x\r\n";

describe("a request whose headers do not end", () => {
  test.each([
    ["nothing", ""],
    ["half a line", "POST /v1/que"],
    ["headers, and no end of them", `${HEAD}Authorization: Bearer `],
  ])("is ended by the server, and reaches no handler: %s", async (_, text) => {
    const socket = await open();
    socket.write(text);
    expect(await reported(socket)).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(fetch).not.toHaveBeenCalled();
  });

  test("is ended though single bytes keep coming", async () => {
    const socket = await open();
    socket.write(HEAD);
    const dripping = setInterval(() => socket.write("a"), 10);
    const answer = await reported(socket);
    clearInterval(dripping);
    // A byte that the server has not read when it closes makes of the close a reset, which can overtake the
    // answer.
    expect(answer).toMatch(/^(HTTP\/1\.1 408 Request Timeout\r\n|a reset$)/);
    expect(fetch).not.toHaveBeenCalled();
  });

  test("is ended on a connection that has had an answer before", async () => {
    const socket = await open();
    socket.write(`${HEAD}Content-Length: 0\r\n\r\n`);
    await once(socket, "data");
    socket.write(HEAD);
    expect(await reported(socket)).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

test("the documented figure is the longest that it takes", () => {
  const { headersTimeout, connectionsCheckingInterval } = HEADER_BOUNDS;
  const seconds = (headersTimeout + connectionsCheckingInterval) / 1_000;
  expect(readFileSync("docs/http.md", "utf8")).toContain(`gives them ${seconds} s. `);
});
