import { describe, expect, test } from "vitest";
import { failed, ok, unavailable, useStack, words } from "./stack.ts";

const { ask, run } = useStack();
const transaction = (...commands: string[]) => ask("/multi-exec", commands.map(words));
const NOT_INTEGER = { error: "ERR value is not an integer or out of range" };

describe("a pipeline", () => {
  test("is an array of commands, at least one, by POST or PUT", async () => {
    const refused = failed("ERR the body of /pipeline must be a JSON array of at least one command");
    expect(await ask("/pipeline", [])).toEqual(refused);
    expect(await ask("/pipeline", { a: 1 })).toEqual(refused);
    const noCommand = failed("ERR a command must be a JSON array of its name and arguments");
    expect(await ask("/pipeline", ["GET", "a"])).toEqual(noCommand);
    expect(await ask("/pipeline")).toEqual(failed("ERR /pipeline must be a POST or PUT", 405));
  });
});

describe("a transaction", () => {
  test("answers each command, and runs on when one fails", async () => {
    expect(await transaction("SET key x", "INCR key", "GET none", "LRANGE none 0 1", "GET key")).toEqual([
      200,
      [{ result: "OK" }, NOT_INTEGER, { result: null }, { result: [] }, { result: "x" }],
    ]);
  });

  test("is discarded whole, with one error, if Redis does not queue a command", async () => {
    const discarded = failed("EXECABORT Transaction discarded because of previous errors.");
    expect(await transaction("SET key x", "SET key")).toEqual(discarded);
    expect(await transaction("SET key x", "BLPOP l 0")).toEqual(unavailable("BLPOP"));
    expect(await run("EXISTS key")).toEqual(ok(0));
  });

  test("lets no other request run in between", async () => {
    const script = ["EVAL", "return redis.call('INCR', KEYS[1])", 1, "counter"];
    const increment = ["INCR", "counter"];
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        index % 2 ? ask("/multi-exec", [increment, increment, script]) : run(increment),
      ),
    );
    const several = replies.map(([, body]) => body).filter((body) => Array.isArray(body));
    expect(several).toHaveLength(30);
    for (const [first, second, third] of several as { result: number }[][])
      expect([second?.result, third?.result]).toEqual([first!.result + 1, first!.result + 2]);
    expect(await run("GET counter")).toEqual(ok("120"));
  });
});
