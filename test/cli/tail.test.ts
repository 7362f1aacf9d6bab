import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { runHere } from "./run-here.ts";

/** A server whose stream of the queue `one` breaks, and that of `two` goes on. */
async function breakingServer(): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url?.endsWith("/settings")) {
      response.setHeader("content-type", "application/json");
      return response.end(JSON.stringify({ events: true }));
    }
    response.setHeader("content-type", "text/event-stream");
    if (request.url?.includes("/one/"))
      return response.end('event: problem\ndata: {"detail":"Redis went away."}\n\n');
    const event = { event: "enqueued", at: 1, ids: ["\u001b[31mred"] };
    return response.write(`event: enqueued\ndata: ${JSON.stringify(event)}\n\n`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("tail of two queues ends if the stream of one breaks; what a server sends is printable", async () => {
  const env = { SLUICE_URL: await breakingServer(), SLUICE_TOKEN: "any-0123456789abcdef" };
  const { code, out, err } = await runHere(["tail", "two", "one"], env, { terminal: true });
  expect(code).toBe(3);
  expect(err).toContain("Redis went away");
  expect(out).not.toContain("\u001b[31m");
});
