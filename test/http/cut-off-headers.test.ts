import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HEADER_BOUNDS, listen } from "../../src/deploy/process/node-listener.ts";
import type { Listener } from "../../src/deploy/process/types.ts";

// Node checks connections at intervals only: both figures together are how long headers may take. Here their time is
// over when the test says so.

const handle = vi.fn(async () => new Response("ok"));
let listener: Listener;
let server: Server;
let socket: Socket;
/** The same connection on the server's side. */
let accepted: Socket;
beforeEach(async () => {
  const bounds = { ...HEADER_BOUNDS, connectionsCheckingInterval: 20 };
  listener = await listen(handle, { port: 0, hostname: "127.0.0.1" }, bounds);
  const note = (message: unknown) =>
    ({ server, socket: accepted } = message as { server: Server; socket: Socket });
  subscribe("http.server.request.start", note);
  await fetch(`http://127.0.0.1:${listener.port}`, { headers: { connection: "close" } });
  unsubscribe("http.server.request.start", note);
  handle.mockClear();
  expect(server.headersTimeout).toBe(HEADER_BOUNDS.headersTimeout);
  const accepting = once(server, "connection") as Promise<[Socket]>;
  socket = connect(listener.port, "127.0.0.1");
  [accepted] = await accepting;
});
afterEach(async () => {
  socket.destroy();
  await listener.stop();
});

const HEAD = "POST /v1/queues/q/tasks HTTP/1.1\r\nHost: x\r\n";

/** Lets the time be over once the server has read all. Returns what comes; "a reset" if nothing and a reset come. */
async function answerAfter(text: string): Promise<string> {
  let answer = "";
  let end = "";
  socket.on("data", (chunk) => (answer += chunk.toString()));
  socket.on("error", (error: NodeJS.ErrnoException) => {
    expect(error.code).toMatch(/^(ECONNRESET|EPIPE)$/);
    end = "a reset";
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  const before = accepted.bytesRead;
  socket.write(text);
  await vi.waitUntil(() => accepted.bytesRead >= before + text.length, { timeout: 20_000, interval: 1 });
  server.headersTimeout = 1;
  await closed;
  return answer || end;
}

test.each([
  ["nothing", ""],
  ["half a line", "POST /v1/que"],
  ["headers, and no end of them", `${HEAD}Authorization: Bearer `],
])(
  "a request whose headers do not end is ended by the server, and reaches no handler: %s",
  async (_, text) => {
    expect(await answerAfter(text)).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(handle).not.toHaveBeenCalled();
  },
);

test("a request whose headers do not end is ended though single bytes keep coming", async () => {
  const answered = answerAfter(HEAD);
  const dripping = setInterval(() => socket.write("a"), 10);
  const answer = await answered;
  clearInterval(dripping);
  // A byte that the server has not read when it closes makes of the close a reset, which can overtake the
  // answer.
  expect(answer).toMatch(/^(HTTP\/1\.1 408 Request Timeout\r\n|a reset$)/);
  expect(handle).not.toHaveBeenCalled();
});

test("a request whose headers do not end is ended on a connection that has had an answer before", async () => {
  socket.write(`${HEAD}Content-Length: 0\r\n\r\n`);
  await once(socket, "data");
  expect(await answerAfter(HEAD)).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(handle).toHaveBeenCalledTimes(1);
});

test("the documented figure is the longest that it takes", () => {
  const { headersTimeout, connectionsCheckingInterval } = HEADER_BOUNDS;
  const seconds = (headersTimeout + connectionsCheckingInterval) / 1_000;
  expect(readFileSync("docs/http.md", "utf8")).toContain(`gives them ${seconds} s. `);
});
