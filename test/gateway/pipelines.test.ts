import { describe, expect, test } from "vitest";
import { unavailable, useStack } from "./stack.ts";

const { ask } = useStack();

describe("a pipeline", () => {
  test("answers each command in its place, with 200", async () => {
    const commands = [
      ["SET", "key", "valuex"],
      ["SETEX", "other", 13, "z"],
      ["INCR", "key"],
      ["NOPE"],
      ["ZADD", "zset", 11, "a", 22, "b"],
    ];
    expect(await ask("/pipeline", commands)).toEqual([
      200,
      [
        { result: "OK" },
        { result: "OK" },
        { error: "ERR value is not an integer or out of range" },
        (unavailable("NOPE") as [number, object])[1],
        { result: 2 },
      ],
    ]);
  });

  test("runs its commands in order", async () => {
    const commands = Array.from({ length: 500 }, () => ["INCR", "counter"]);
    const [, replies] = await ask("/pipeline", commands);
    expect(replies).toEqual(commands.map((_, index) => ({ result: index + 1 })));
  });

  test("is an array of commands, at least one, by POST or PUT", async () => {
    const refusal = { error: "ERR the body of /pipeline must be a JSON array of at least one command" };
    expect(await ask("/pipeline", [])).toEqual([400, refusal]);
    expect(await ask("/pipeline", { a: 1 })).toEqual([400, refusal]);
    expect(await ask("/pipeline", ["GET", "a"])).toEqual([
      400,
      { error: "ERR a command must be a JSON array of its name and arguments" },
    ]);
    expect(await ask("/pipeline")).toEqual([405, { error: "ERR /pipeline must be a POST or PUT" }]);
  });
});

describe("a transaction", () => {
  test("answers each command, and runs on when one fails", async () => {
    const commands = [
      ["SET", "key", "x"],
      ["INCR", "key"],
      ["GET", "none"],
      ["LRANGE", "none", 0, 1],
      ["GET", "key"],
    ];
    expect(await ask("/multi-exec", commands)).toEqual([
      200,
      [
        { result: "OK" },
        { error: "ERR value is not an integer or out of range" },
        { result: null },
        { result: [] },
        { result: "x" },
      ],
    ]);
  });

  test("is discarded whole, with one error, if Redis does not queue a command", async () => {
    expect(
      await ask("/multi-exec", [
        ["SET", "key", "x"],
        ["SET", "key"],
      ]),
    ).toEqual([400, { error: "EXECABORT Transaction discarded because of previous errors." }]);
    expect(
      await ask("/multi-exec", [
        ["SET", "key", "x"],
        ["BLPOP", "l", 0],
      ]),
    ).toEqual(unavailable("BLPOP"));
    expect(await ask("/", ["EXISTS", "key"])).toEqual([200, { result: 0 }]);
  });

  test("lets no other request run in between", async () => {
    const add = () =>
      ask("/multi-exec", [
        ["INCR", "counter"],
        ["INCR", "counter"],
        ["EVAL", "return redis.call('INCR', KEYS[1])", 1, "counter"],
      ]);
    const noise = () => ask("/", ["INCR", "counter"]);
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, index) => (index % 2 ? add() : noise())),
    );
    for (const [, body] of replies) {
      if (!Array.isArray(body)) continue;
      const [first, second, third] = body.map(({ result }: { result: number }) => result) as [
        number,
        number,
        number,
      ];
      expect([second, third]).toEqual([first + 1, first + 2]);
    }
    expect(await ask("/", ["GET", "counter"])).toEqual([200, { result: "120" }]);
  });
});
