import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { increment, source, useCounter } from "./counter.ts";
import { failed, ok, sha1, token } from "./stack.ts";

const { its, direct, faults, usage, counter, ask } = useCounter();
const noScript = failed("NOSCRIPT No matching script. Please use EVAL.");

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
    expect(usage()).toMatchObject({ commands: 4, requests: 2 });

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
    const commands = [["INCR", "n"], increment, ["EVAL", source, 1, "n"]];
    expect(await ask(commands, "/pipeline")).toEqual([200, [{ result: 1 }, noScript[1], { result: 2 }]]);
    faults().add({ kind: "noscript", match: { times: 2 } });
    expect(await ask(increment)).toEqual(noScript);
    expect(await ask([["INCR", "n"], increment], "/multi-exec")).toEqual(noScript);
    expect(await counter()).toBe(2);
  });

  test("quota refuses every command without running it", async () => {
    const words = /^ERR max requests limit exceeded\. Limit: 500000, Usage: 500000\. /;
    const error = expect.stringMatching(words) as string;
    faults().add({ kind: "quota", match: { times: 3 } });
    expect(await ask(increment)).toEqual(failed(error));
    expect(await ask([increment, ["GET", "n"]], "/pipeline")).toEqual([200, [{ error }, { error }]]);
    expect(await ask([increment, ["GET", "n"]], "/multi-exec")).toEqual(failed(error));
    expect(await counter()).toBe(0);
    expect(await ask(increment)).toEqual(ok(1));
  });

  test("http answers with any status, body and type, without running the request; with runs: true after it", async () => {
    const injected = { error: "ERR injected fault" };
    faults().add({ kind: "http", status: 429, body: '{"error":"slow down"}' });
    faults().add({ kind: "http", status: 502, body: "<html>Bad gateway</html>", contentType: "text/html" });
    faults().add({ kind: "http", status: 500 });
    expect(await ask(increment)).toEqual([429, { error: "slow down" }]);
    const html = await its.stack.rest("/", increment);
    const seen = [html.status, html.text, html.headers.get("content-type")];
    expect(seen).toEqual([502, "<html>Bad gateway</html>", "text/html"]);
    expect(await ask(increment)).toEqual([500, injected]);
    expect(await counter()).toBe(0);

    faults().add({ kind: "http", runs: true, status: 503 });
    faults().add({ kind: "http", runs: true, status: 200, body: "" });
    expect(await ask(increment)).toEqual([503, injected]);
    expect(await counter()).toBe(1);
    expect(await ask(increment)).toEqual([200, ""]);
    expect(await counter()).toBe(2);
    expect(usage()).toMatchObject({ commands: 4, requests: 5 });
  });

  test("flush-scripts makes Redis forget every script right before the matching ones, within a pipeline too", async () => {
    const other = "return 1";
    await its.stack.rest("/", ["SCRIPT", "LOAD", other]);
    faults().add({ kind: "flush-scripts", match: { script: "increment" } });
    const call = ["EVALSHA", sha1(other), 0];
    expect(await ask([call, ["INCR", "n"], increment, call], "/pipeline")).toEqual([
      200,
      [{ result: 1 }, { result: 1 }, noScript[1], noScript[1]],
    ]);
    expect(await ask(["EVAL", source, 1, "n"])).toEqual(ok(2));
    faults().add({ kind: "flush-scripts" });
    expect(await ask(["EVAL", source, 1, "n"])).toEqual(ok(3));
    faults().add({ kind: "flush-scripts" });
    expect((await ask([["INCR", "n"], increment], "/multi-exec"))[0]).toBe(200);
    expect(await counter()).toBe(4);
  });

  test("stall answers at its release, and runs the request then, or at once with runs: true", async () => {
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

  test("stall runs a request even if its client no longer waits", async () => {
    const fault = faults().add({ kind: "stall" });
    const signal = new AbortController();
    const given = its.stack.rest("/", increment, { signal: signal.signal });
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
    expect(usage()).toMatchObject({ commands: 8, requests: 4 });
  });

  test("hold breaks connections and runs the requests at its release, in their order, after later ones", async () => {
    const fault = faults().add({ kind: "hold", match: { times: 3 } });
    for (const value of ["a", "b", "c"]) expect(await ask(["RPUSH", "list", value])).toBe("broken");
    expect([fault.held, await direct("EXISTS", "list")]).toEqual([3, "0"]);
    expect(await ask(["RPUSH", "list", "first"])).toEqual(ok(1));
    await fault.release();
    expect([fault.held, await direct("LRANGE", "list", "1", "-1")]).toEqual([
      0,
      ["a", "b", "c"].map(Buffer.from),
    ]);
    await fault.release();
    expect(usage()).toMatchObject({ commands: 4, requests: 4 });
  });
});

/** The bytes of the reply over a plain socket, until it closes. */
async function rawReply(command: readonly string[]): Promise<string> {
  const body = JSON.stringify(command);
  const { hostname, port } = new URL(its.stack.gateway.url);
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
