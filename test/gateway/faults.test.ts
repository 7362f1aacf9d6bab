import { createHash } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { rest, type Stack, startStack, token } from "./stack.ts";

const source = "return redis.call('INCR', KEYS[1])";
const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ scriptNames: { [sha1(source)]: "increment" } });
});
afterAll(() => stack.stop());
beforeEach(async () => {
  await stack.direct.send(["FLUSHALL"]);
  await stack.rest("/", ["SCRIPT", "LOAD", source]);
  stack.gateway.resetUsage();
});
afterEach(() => stack.gateway.faults.clear());

const faults = () => stack.gateway.faults;
const increment = ["EVALSHA", sha1(source), 1, "n"];
const counter = async () => Number(await stack.direct.send(["GET", "n"]));
/** Status and body, or `broken` when the connection broke. */
const ask = async (body: unknown, path = "/") => {
  try {
    const { status, json, text } = await stack.rest(path, body);
    return [status, json ?? text];
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return "broken";
  }
};
const ok = (result: unknown) => [200, { result }];

describe("a fault", () => {
  test("cut runs nothing and breaks the connection", async () => {
    const fault = faults().add({ kind: "cut" });
    expect(await ask(increment)).toBe("broken");
    expect(await counter()).toBe(0);
    expect(await ask(increment)).toEqual(ok(1));
    expect([fault.matched, fault.hits]).toEqual([2, 1]);
  });

  test("lose-reply runs the request, and no byte of the reply arrives", async () => {
    faults().add({ kind: "lose-reply" });
    expect(await ask(increment)).toBe("broken");
    expect(await counter()).toBe(1);
    expect(await ask(increment)).toEqual(ok(2));
    expect(stack.gateway.usage()).toMatchObject({ commands: 4, requests: 2 });

    faults().add({ kind: "lose-reply" });
    expect(await rawReply(["INCR", "n"])).toBe("");
    expect(await counter()).toBe(3);
  });

  test("cut-body runs the request and sends half of the body", async () => {
    faults().add({ kind: "cut-body" });
    expect(await ask(increment)).toBe("broken");
    expect(await counter()).toBe(1);

    faults().add({ kind: "cut-body" });
    const reply = await rawReply(["SET", "key", "x"]);
    expect(reply).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(reply).toMatch(/\r\ncontent-length: 15\r\n/i);
    expect(reply).toMatch(/\r\n\r\n\{"resul$/);
  });

  test("delay runs the request later, and answers then", async () => {
    faults().add({ kind: "delay", ms: 100 });
    const delayed = ask(increment);
    expect(await ask(["INCR", "n"])).toEqual(ok(1));
    expect(await delayed).toEqual(ok(2));
  });

  test("noscript refuses the matching scripts only, without running them", async () => {
    faults().add({ kind: "noscript", match: { command: "EVALSHA" } });
    const noScript = { error: "NOSCRIPT No matching script. Please use EVAL." };
    expect(await ask([["INCR", "n"], increment, ["EVAL", source, 1, "n"]], "/pipeline")).toEqual([
      200,
      [{ result: 1 }, noScript, { result: 2 }],
    ]);
    faults().add({ kind: "noscript" });
    expect(await ask(increment)).toEqual([400, noScript]);
    faults().add({ kind: "noscript" });
    expect(await ask([["INCR", "n"], increment], "/multi-exec")).toEqual([400, noScript]);
    expect(await counter()).toBe(2);
  });

  test("quota refuses every command without running it", async () => {
    const error = expect.stringMatching(/^ERR max requests limit exceeded\. Limit: 500000, Usage: 500000\. /);
    faults().add({ kind: "quota", match: { times: 3 } });
    expect(await ask(increment)).toEqual([400, { error }]);
    expect(await ask([increment, ["GET", "n"]], "/pipeline")).toEqual([200, [{ error }, { error }]]);
    expect(await ask([increment, ["GET", "n"]], "/multi-exec")).toEqual([400, { error }]);
    expect(await counter()).toBe(0);
    expect(await ask(increment)).toEqual(ok(1));
  });

  test("http answers with any status, body and type, without running the request", async () => {
    faults().add({ kind: "http", status: 429, body: '{"error":"slow down"}' });
    faults().add({ kind: "http", status: 502, body: "<html>Bad gateway</html>", contentType: "text/html" });
    faults().add({ kind: "http", status: 500 });
    expect(await ask(increment)).toEqual([429, { error: "slow down" }]);
    const html = await stack.rest("/", increment);
    expect([html.status, html.text, html.headers.get("content-type")]).toEqual([
      502,
      "<html>Bad gateway</html>",
      "text/html",
    ]);
    expect(await ask(increment)).toEqual([500, { error: "ERR injected fault" }]);
    expect(await counter()).toBe(0);
  });

  test("http with runs runs the request, and answers as if it had not", async () => {
    faults().add({ kind: "http", runs: true, status: 503 });
    faults().add({ kind: "http", runs: true, status: 200, body: "" });
    expect(await ask(increment)).toEqual([503, { error: "ERR injected fault" }]);
    expect(await counter()).toBe(1);
    expect(await ask(increment)).toEqual([200, ""]);
    expect(await counter()).toBe(2);
    expect(stack.gateway.usage()).toMatchObject({ commands: 4, requests: 2 });
  });

  test("flush-scripts makes Redis forget every script right before the matching ones, within a pipeline too", async () => {
    const other = "return 1";
    await stack.rest("/", ["SCRIPT", "LOAD", other]);
    const noScript = { error: "NOSCRIPT No matching script. Please use EVAL." };
    faults().add({ kind: "flush-scripts", match: { script: "increment" } });
    const call = ["EVALSHA", sha1(other), 0];
    expect(await ask([call, ["INCR", "n"], increment, call], "/pipeline")).toEqual([
      200,
      [{ result: 1 }, { result: 1 }, noScript, noScript],
    ]);
    expect(await ask(["EVAL", source, 1, "n"])).toEqual(ok(2));
    faults().add({ kind: "flush-scripts" });
    expect(await ask(["EVAL", source, 1, "n"])).toEqual(ok(3));
    faults().add({ kind: "flush-scripts" });
    expect((await ask([["INCR", "n"], increment], "/multi-exec"))[0]).toBe(200);
    expect(await counter()).toBe(4);
  });

  test("stall answers at its release, and runs the request then, or with runs at once", async () => {
    for (const runs of [false, true]) {
      const fault = faults().add({ kind: "stall", runs });
      const stalled = ask(["INCR", "stalled"]);
      while (fault.held === 0) await sleep(1);
      const [, before] = (await ask(["INCR", "stalled"])) as [number, { result: number }];
      await fault.release();
      expect(fault.held).toBe(0);
      expect([before.result, await stalled]).toEqual(runs ? [4, ok(3)] : [1, ok(2)]);
    }
  });

  test("stall runs what its client no longer waits for", async () => {
    const fault = faults().add({ kind: "stall" });
    const signal = new AbortController();
    const given = stack.rest("/", increment, { signal: signal.signal });
    while (fault.held === 0) await sleep(1);
    signal.abort();
    await expect(given).rejects.toThrow(/abort/);
    expect(await counter()).toBe(0);
    await fault.release();
    expect(await counter()).toBe(1);
  });

  test("duplicate runs the request twice and answers with either", async () => {
    faults().add({ kind: "duplicate" });
    expect(await ask(increment)).toEqual(ok(1));
    expect(await counter()).toBe(2);
    faults().add({ kind: "duplicate", answer: "second" });
    expect(await ask(increment)).toEqual(ok(4));
    expect(stack.gateway.usage()).toMatchObject({ commands: 8, requests: 4 });
  });

  test("hold breaks the connection and runs the request at its release, after a later copy", async () => {
    const fault = faults().add({ kind: "hold" });
    expect(await ask(["SET", "key", "first"])).toBe("broken");
    expect([fault.held, await stack.direct.send(["GET", "key"])]).toEqual([1, null]);
    expect(await ask(["SET", "key", "second"])).toEqual(ok("OK"));
    await fault.release();
    expect([fault.held, await stack.direct.send(["GET", "key"])]).toEqual([0, Buffer.from("first")]);
    await fault.release();
    expect(stack.gateway.usage()).toMatchObject({ commands: 2, requests: 2 });
  });

  test("hold keeps several requests in their order", async () => {
    const fault = faults().add({ kind: "hold", match: { times: 3 } });
    for (const value of ["a", "b", "c"]) expect(await ask(["RPUSH", "list", value])).toBe("broken");
    await fault.release();
    expect(await ask(["LRANGE", "list", 0, -1])).toEqual(ok(["a", "b", "c"]));
  });
});

describe("a fault hits", () => {
  test("the nth matching request and so many from there on", async () => {
    const fault = faults().add({ kind: "http", status: 500, match: { command: "incr", nth: 2, times: 2 } });
    const statuses: unknown[] = [];
    for (let index = 0; index < 5; index++) {
      await ask(["SET", "other", "x"]);
      statuses.push((await ask(["INCR", "n"]))[0]);
    }
    expect(statuses).toEqual([200, 500, 500, 200, 200]);
    expect([fault.matched, fault.hits]).toEqual([5, 2]);
  });

  test("always, until it is removed", async () => {
    const fault = faults().add({ kind: "cut", match: { times: "always" } });
    for (let index = 0; index < 3; index++) expect(await ask(increment)).toBe("broken");
    fault.remove();
    expect(await ask(increment)).toEqual(ok(1));
  });

  test("a script by SHA or name, however it is called", async () => {
    const other = "return 1";
    for (const script of ["increment", sha1(source), sha1(source).toUpperCase()]) {
      const fault = faults().add({ kind: "http", status: 500, match: { script, times: "always" } });
      expect((await ask(increment))[0]).toBe(500);
      expect((await ask(["eval", source, 1, "n"]))[0]).toBe(500);
      expect((await ask([["GET", "n"], increment], "/pipeline"))[0]).toBe(500);
      expect((await ask(["SCRIPT", "LOAD", source]))[0]).toBe(500);
      expect((await ask(["EVAL", other, 0]))[0]).toBe(200);
      expect((await ask(["GET", "n"]))[0]).toBe(200);
      fault.remove();
    }
  });

  test("a script by SHA only in the commands that are asked for", async () => {
    faults().add({ kind: "http", status: 500, match: { script: "increment", command: "EVALSHA" } });
    expect((await ask(["EVAL", source, 1, "n"]))[0]).toBe(200);
    expect((await ask(increment))[0]).toBe(500);
  });

  test("before those that were added later, which do not count the request", async () => {
    const first = faults().add({ kind: "http", status: 500 });
    const second = faults().add({ kind: "http", status: 501 });
    expect((await ask(increment))[0]).toBe(500);
    expect((await ask(increment))[0]).toBe(501);
    expect([first.matched, second.matched]).toEqual([2, 1]);
  });

  test("no request without a valid token, and none of the gateway's own", async () => {
    faults().add({ kind: "cut" });
    const refused = await rest(stack.gateway.url, "/ping?_token=wrong", undefined, {
      headers: { authorization: "" },
    });
    expect(refused.status).toBe(401);
    expect((await stack.rest("/-/usage")).status).toBe(200);
    expect(await ask(["PING"])).toBe("broken");
  });
});

describe("over HTTP", () => {
  test("faults are added, listed, released and removed", async () => {
    const match = { nth: 1, times: 1 };
    const counts = { matched: 0, hits: 0, held: 0 };
    const added = await stack.rest("/-/faults", { kind: "hold" });
    const { id } = added.json as { id: number };
    expect([added.status, added.json]).toEqual([201, { id, ...counts }]);
    expect(await ask(increment)).toBe("broken");
    expect((await stack.rest("/-/faults")).json).toEqual([
      { kind: "hold", match, id, matched: 1, hits: 1, held: 1 },
    ]);
    expect((await stack.rest(`/-/faults/${id}/release`, "")).json).toEqual({
      id,
      matched: 1,
      hits: 1,
      held: 0,
    });
    expect(await counter()).toBe(1);
    expect((await stack.rest(`/-/faults/${id}`, undefined, { method: "DELETE" })).status).toBe(200);
    expect((await stack.rest(`/-/faults/${id}`, undefined, { method: "DELETE" })).status).toBe(404);
    await stack.rest("/-/faults", { kind: "cut" });
    expect((await stack.rest("/-/faults", undefined, { method: "DELETE" })).json).toEqual([]);
    expect(faults().list()).toEqual([]);
  });

  test("and in code, a wrong fault is refused with what is allowed", async () => {
    expect(await ask({ kind: "explode" }, "/-/faults")).toEqual([
      400,
      { error: expect.stringContaining('kind: Invalid type: Expected ("cut" | "lose-reply" | ') },
    ]);
    expect(await ask({ kind: "delay" }, "/-/faults")).toEqual([
      400,
      { error: expect.stringMatching(/^ms: /) },
    ]);
    expect(await ask({ kind: "cut", match: { nth: 0 } }, "/-/faults")).toEqual([
      400,
      { error: expect.stringMatching(/^match\.nth: /) },
    ]);
    expect(await ask("{", "/-/faults")).toEqual([400, { error: "the body is not JSON" }]);
    expect(() => faults().add({ kind: "cut", match: { times: 0 } })).toThrow(TypeError);
    expect(faults().list()).toEqual([]);
  });
});

/** What comes back over a plain socket until it closes. */
async function rawReply(command: readonly string[]): Promise<string> {
  const body = JSON.stringify(command);
  const { hostname, port } = new URL(stack.gateway.url);
  return await new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let reply = "";
    socket.on("data", (chunk: Buffer) => (reply += chunk.toString()));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(reply));
    socket.write(
      `POST / HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
  });
}
