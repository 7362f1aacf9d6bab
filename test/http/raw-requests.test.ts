import type { Server } from "node:http";
import { connect } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { listen } from "../../src/deploy/process/node-listener.ts";
import { readKeySpace } from "../support/key-space.ts";
import { listening } from "../support/listening.ts";
import { secrets, useServed } from "./served.ts";

// Requests that no client writes, as bytes on a socket of a Node server; and headers.

const reported = vi.fn();
const served = useServed({ onError: reported });

/** Ports of the app on the adapter alone, and as a deployment serves it. */
interface Ports {
  readonly adapter: number;
  readonly deployment: number;
}
let ports: Ports;
/** The same with little time for a body. */
let impatient: Ports;
const stops: (() => unknown)[] = [];
async function portsOf(limits: { readonly body: number; readonly bodyTime?: number }): Promise<Ports> {
  const app = served.make({ limits });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  const adapter = await listening(server);
  const listener = await listen(async (request) => app.fetch(request), { port: 0, hostname: "127.0.0.1" });
  stops.push(() => {
    server.close();
    server.closeAllConnections();
    listener.drop?.();
    return listener.stop();
  });
  return { adapter, deployment: listener.port };
}
beforeAll(async () => {
  ports = await portsOf({ body: 1_000 });
  impatient = await portsOf({ body: 1_000, bodyTime: 50 });
});
afterAll(async () => {
  for (const stop of stops) await stop();
  expect(reported).not.toHaveBeenCalled();
});

/** Writes the pieces, a while apart, and reads until the server ends the connection. */
async function wire(pieces: readonly string[], { every = 0, closing = true, port = ports.adapter } = {}) {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
  socket.on("error", () => {});
  // `once` would take a broken pipe for a failure, but it is an end as well.
  const ended = new Promise((resolve) => socket.on("close", resolve));
  for (const piece of pieces) {
    if (socket.destroyed || answer !== "") break;
    socket.write(piece, "latin1");
    if (every > 0) await new Promise((resolve) => setTimeout(resolve, every));
  }
  if (!closing) socket.destroy();
  await ended;
  const [head = "", body = ""] = answer.split(/\r\n\r\n(.*)/s);
  return { status: Number(head.split(" ")[1] ?? 0), head, body };
}

const lines = (first: string, ...headers: string[]) =>
  [`${first} HTTP/1.1`, "Host: sluice.test", "Connection: close", ...headers, "", ""].join("\r\n");
const bearer = (token: string) => `Authorization: Bearer ${token}`;
const post = (headers: readonly string[], body = "", path = "/v1/queues/q/tasks") =>
  lines(`POST ${path}`, bearer(secrets.all), "Content-Type: application/json", ...headers) + body;
const get = (...headers: string[]) => wire([lines("GET /v1/queues", ...headers)]);

const alive = async () => {
  for (const port of Object.values(ports)) {
    const answer = await fetch(`http://127.0.0.1:${port}/health`);
    expect(await answer.json()).toEqual({ status: "ok" });
  }
};
const keySpace = () => readKeySpace(served.redis.url);

describe.each(["adapter", "deployment"] as const)("a body on the wire, to the %s", (which) => {
  const to = (pieces: readonly string[], options: Parameters<typeof wire>[1] = {}) =>
    wire(pieces, { port: ports[which], ...options });

  it("is taken in one piece and in several", async () => {
    const body = '{"payload":"in pieces"}';
    const head = post([`Content-Length: ${body.length}`]);
    expect((await to([head + body])).status).toBe(201);
    expect((await to([head, body.slice(0, 9), body.slice(9)], { every: 20 })).status).toBe(201);
  });

  it("that comes a byte at a time is given up in time: 408, and the connection ends", async () => {
    const head = post(["Content-Length: 500"]);
    const pieces = [head, ...'{"payload":"'.padEnd(400, "x").split("")];
    const { status, body } = await to(pieces, { every: 10, port: impatient[which] });
    expect([status, JSON.parse(body).code]).toEqual([408, "body_too_slow"]);
    await alive();
  });

  it("that comes in endless chunks is read to the limit: 413", async () => {
    const chunk = `64\r\n${"x".repeat(100)}\r\n`;
    const chunks = Array.from({ length: 30 }, () => chunk);
    const { status, body } = await to([post(["Transfer-Encoding: chunked"]), ...chunks]);
    expect([status, JSON.parse(body).code]).toEqual([413, "payload_too_large"]);
    await alive();
  });

  it("whose Content-Length is over the limit is not waited for: 413", async () => {
    const { status } = await to([post(["Content-Length: 100000000000"])]);
    expect(status).toBe(413);
  });

  it("of a client that disconnects in the middle has no effect, and other requests go on", async () => {
    const before = await keySpace();
    const head = post(["Content-Length: 500"], '{"payload":1');
    await Promise.all(Array.from({ length: 20 }, () => to([head], { every: 20, closing: false })));
    await alive();
    expect(await keySpace()).toEqual(before);
  });

  it.each([
    ["two lengths", ["Content-Length: 2", "Content-Length: 13"]],
    ["a length and chunks", ["Content-Length: 2", "Transfer-Encoding: chunked"]],
    ["a length that is none", ["Content-Length: -1"]],
    ["chunks that are none", ["Transfer-Encoding: chunked, identity"]],
    ["a header without a name", [": nothing"]],
    ["a header over two lines", ["X-A: 1\r\n b", "Content-Length: 13", "\u0000: 1"]],
  ])("that two servers could read as two different requests is refused: %s", async (_, headers) => {
    const before = await keySpace();
    const { status } = await to([post(headers, '{"payload":1}')]);
    expect(status).toBe(400);
    expect(await keySpace()).toEqual(before);
  });
});

describe("a header on the wire", () => {
  it("lets one token in, and no second one beside it, whichever of them is known", async () => {
    expect((await get(bearer(secrets.admin))).status).toBe(200);
    const unknown = "unknown-0123456789abcdef";
    for (const pair of [
      [secrets.admin, unknown],
      [unknown, secrets.admin],
      [secrets.enqueue, secrets.admin],
    ]) {
      expect([pair, (await get(...pair.map(bearer))).status]).toEqual([pair, 401]);
    }
  });

  it("is no token in another alphabet, or of 10 KB, and 431 if it is longer than Node takes", async () => {
    const tokens = ["\u00e9\u00e8\u00ff-0123456789abcdef", "x".repeat(10_000), `${secrets.admin}\u00a0`];
    for (const token of tokens) expect((await get(bearer(token))).status).toBe(401);
    expect((await get(bearer("x".repeat(20_000)))).status).toBe(431);
    await alive();
  });

  it("changes no method: a method override is ignored", async () => {
    const names = ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"];
    const overrides = names.map((name) => `${name}: DELETE`);
    const asked = post(overrides, "", "/v1/queues/kept?_method=DELETE");
    expect((await wire([asked])).status).toBe(405);
    const { status, body } = await get(bearer(secrets.admin), ...overrides);
    expect([status, body]).toEqual([200, expect.stringContaining('"queues"')]);
  });

  it("that names another host, scheme, client or path makes no difference", async () => {
    const plain = await get(bearer(secrets.admin));
    for (const name of [
      "X-Forwarded-Host: evil.test",
      "X-Forwarded-Proto: javascript",
      "X-Forwarded-Prefix: /../..",
      "X-Original-URL: /v1/queues/secret",
      "X-Rewrite-URL: /v1/sweep",
      "Forwarded: host=evil.test",
    ]) {
      const answer = await get(bearer(secrets.admin), name);
      expect([name, answer.status, answer.body]).toEqual([name, 200, plain.body]);
      expect(answer.head).not.toContain("evil.test");
    }
    const root = await wire(["GET / HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n"]);
    expect(root.head).toMatch(/\r\nlocation: docs\r\n/i);
  });
});

it("a method that no route answers to does nothing on the wire", async () => {
  const before = await keySpace();
  for (const method of ["TRACE", "CONNECT", "PROPFIND", "PURGE", "LINK", "get", "NOPE"]) {
    const { status } = await wire([lines(`${method} /v1/queues/q/tasks`, bearer(secrets.all))]);
    // Node ends the connection of a CONNECT without a listener, without an answer.
    expect([method, status === 0 || (status >= 400 && status < 500)]).toEqual([method, true]);
  }
  expect(await keySpace()).toEqual(before);
  await alive();
});

describe("a path", () => {
  it("that is nearly a route is not one", async () => {
    const paths =
      "/v1/queues/q/ /v1/queues/q// /v1//queues/q //v1/queues/q /v1/queues//tasks /v1/queues/q/tasks/ " +
      "/v1/queues/q/tasks// /v1/queues/q/tasks//cancel /v1/queues/q/./../../../etc /V1/queues/q " +
      "/v1/queues/q/TASKS /v1/queues/q;a=b/tasks /v1/queues/q/tasks.json /v1 /.env /openapi.json/ /docs/ /health/";
    for (const path of paths.split(" ")) {
      const { status, body } = await served.ask("GET", path);
      // If the path could name a queue or a task, the fault is its name.
      const isName = status === 400 && /^(queue|id)$/.test(body.errors[0].path);
      expect([path, isName || body.code]).toEqual([path, isName || "no_route"]);
    }
  });

  it("in the form for proxies, or an empty one, is answered, and other requests go on", async () => {
    const targets = ["http://elsewhere.test/v1/queues", "*", "/%", "/v1/queues/%00", "/\u00ff\u00fe"];
    for (const target of [...targets, `/${"x".repeat(8_000)}`]) {
      const { status } = await wire([lines(`GET ${target}`)]);
      expect([target, status >= 400 && status < 500]).toEqual([target, true]);
    }
    await alive();
  });
});
