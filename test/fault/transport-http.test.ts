import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";

import type { Command } from "../../src/queue/redis/transport.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { script } from "../transport/script.ts";

// Faults of the connection, on real sockets instead of a mock of fetch.

const echo = script("echo", "return ARGV[1]");
const call: Command = { script: echo, keys: [], args: ["first"], resendArgs: ["again"] };

type Responder = (response: ServerResponse) => void;

let server: Server | undefined;
afterEach(() => {
  server?.close();
  server?.closeAllConnections();
});

/** Answers the n-th request with the n-th responder, and keeps the last argument of each request. */
async function answering(...responders: Responder[]) {
  const sent: string[] = [];
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    sent.push(String((JSON.parse(body) as unknown[][])[0]?.at(-1)));
    responders[sent.length - 1]?.(response);
  };
  server = createServer((request, response) => void listener(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { sent, transport: upstash({ url, token: "t" }, { retry: { firstWait: 1, tries: 2 } }) };
}

const ok: Responder = (response) => response.end('[{"result":"done"}]');
const half: Responder = (response) => {
  response.setHeader("content-length", 1_000);
  response.write('[{"result":"do');
};

test.each<[string, Responder]>([
  ["a connection that breaks in place of the reply", (response) => response.destroy()],
  [
    "a connection that breaks in the middle of the reply",
    (response) => {
      half(response);
      setTimeout(() => response.destroy(), 20);
    },
  ],
  ["a reply that is whole for HTTP and half for JSON", (response) => response.end('[{"result":"do')],
])("%s leads to a resend", async (_, fault) => {
  const { sent, transport } = await answering(fault, ok);
  expect(await transport.send([call])).toEqual([{ reply: "done" }]);
  expect(sent).toEqual(["first", "again"]);
});

test("an abort in the middle of the reply rejects, and nothing more is sent", async () => {
  const controller = new AbortController();
  const { sent, transport } = await answering((response) => {
    half(response);
    setTimeout(() => controller.abort(), 20);
  });
  await expect(transport.send([call], { signal: controller.signal })).rejects.toMatchObject({
    code: "aborted",
  });
  expect(sent).toEqual(["first"]);
});

test("a port without a server is reported with the system's code", async () => {
  const { transport } = await answering();
  server?.close();
  await expect(transport.send([call])).rejects.toMatchObject({
    code: "redis_unreachable",
    message: expect.stringMatching(
      /in 2 tries over \d+ ms; the last time: a network error \(ECONNREFUSED\)$/,
    ),
  });
});
