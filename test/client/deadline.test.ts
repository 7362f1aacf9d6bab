import { describe, expect, test } from "vitest";
import type { Duration } from "../../src/index.ts";
import { failure, payload, problemOf } from "./failure.ts";
import { FaultyWay, useServer, type Fault } from "./rig.ts";

const server = useServer();

describe("until the deadline", () => {
  const until = (faults: Fault[], retry: { deadline: Duration; tryTimeout?: Duration }) => {
    server.way().faults = faults;
    return server.client({ retry }).queue("emails");
  };
  const many = (fault: Fault) => Array.from({ length: 1_000 }, () => fault);

  test.each<[string, Fault, string]>([
    ["a 502", { status: 502 }, "HTTP 502"],
    ["a temporary problem", problemOf("redis_unreachable", 504), "HTTP 504 (redis_unreachable)"],
    ["connections that end", "reset", "a network error (UND_ERR_SOCKET)"],
    ["bodies that are cut", "half JSON", "a body that is cut off or not JSON"],
    ["no answers", "hang", "no answer within 1000 ms"],
  ])("%s: the error says what it was", async (_, fault, last) => {
    const queue = until(many(fault), { deadline: "1500ms", tryTimeout: "1s" });
    const { code, message } = await failure(() => queue.enqueue(payload));
    expect(code).toBe("unreachable");
    expect(message).toMatch(
      /^the server gave no useful answer in \d+ (try|tries) over \d+ ms; the last time: /,
    );
    expect(message).toContain(last);
  });

  test("if it cuts a copy short, the error is that of the copy before it", async () => {
    const queue = until([{ status: 502 }, "hang"], { deadline: "1s", tryTimeout: "10s" });
    const { message } = await failure(() => queue.enqueue(payload));
    expect(message).toMatch(/ in 2 tries over \d+ ms; the last time: HTTP 502$/);
  });

  test("if a copy has had its full time, the error says so, whatever came before it", async () => {
    const queue = until([{ status: 502 }, ...many("hang")], { deadline: "1s", tryTimeout: "100ms" });
    const { message } = await failure(() => queue.enqueue(payload));
    expect(message).toMatch(/; the last time: no answer within 100 ms$/);
  });

  test.each([
    ["seconds", () => "60"],
    ["a date", () => new Date(Date.now() + 60_000).toUTCString()],
  ])("a Retry-After beyond it, in %s, ends the tries at once", async (_, retryAfter) => {
    const queue = until([{ status: 429, headers: { "retry-after": retryAfter() } }], { deadline: "5s" });
    expect(await failure(() => queue.enqueue(payload))).toMatchObject({ code: "unreachable" });
    expect(server.way().copies.length).toBe(1);
  });

  test("an unreachable server is reported with the system's code", async () => {
    const gone = new FaultyWay("");
    await gone.open();
    gone.close();
    const client = server.client({ url: gone.url, retry: { deadline: "2s" } });
    const { code, message } = await failure(() => client.queue("emails").get("a"));
    expect(code).toBe("unreachable");
    expect(message).toMatch(/; the last time: a network error \(ECONNREFUSED\)$/);
  });
});
