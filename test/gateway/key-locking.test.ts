import { describe, expect, test } from "vitest";
import { failed, ok, sha1, useStack, words } from "./stack.ts";

const { run, direct } = useStack();
const always = useStack({ strictKeys: "always" });

describe("a script with allow-key-locking", () => {
  const flag = "#!lua flags=allow-key-locking\n";
  const dynamic = (key: string) =>
    failed(
      `ERR Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: ${key}`,
    );

  test("runs, and its lines keep their numbers", async () => {
    const source = `${flag}local n = 1\nreturn redis.call('INCRBY', KEYS[1], n + 1)`;
    expect(await run(["EVAL", source, 1, "n"])).toEqual(ok(2));
    expect(await run(["EVALSHA", sha1(source), 1, "n"])).toEqual(ok(4));
    await direct("SET", "text", "x");
    expect(await run(["EVALSHA", sha1(source), 1, "text"])).toEqual(
      failed(`ERR value is not an integer or out of range script: ${sha1(source)}, on @user_script:3.`),
    );
  });

  test("keeps its other flags", async () => {
    const source = "#!lua flags=no-writes,allow-key-locking\nreturn redis.call('SET', KEYS[1], 'x')";
    const [status, body] = await run(["EVAL", source, 1, "a"]);
    expect([status, body]).toEqual(
      failed(expect.stringMatching(/^ERR Write commands are not allowed from read-only scripts/)),
    );
  });

  test("counts as read-only if it has that flag", async () => {
    expect(await run(["EVAL_RO", `${flag}return redis.call('GET', KEYS[1])`, 1, "a"])).toEqual(ok(null));
  });

  const foreign = `
    GET x; set x 1; MGET a x; DEL a b x; MSET a 1 x 2; RPOPLPUSH a x; EXISTS a x; HMGET x a; ZUNION 2 a x;
    ZUNIONSTORE x 1 a; ZUNIONSTORE a 2 b x; ZMPOP 2 a x MIN; SINTERCARD 2 a x; BLPOP a x 1;
    XREAD COUNT 1 STREAMS a x 0 0; SORT a STORE x; GEORADIUS a 1 1 1 m STORE x; OBJECT ENCODING x;
    XGROUP CREATE x g $ MKSTREAM; BITOP AND a b x; COPY a x`
    .split(";")
    .map((command) => command.trim());
  const literal = (command: string) => `'${command.replaceAll(" ", "', '")}'`;

  test.each(foreign)("may not use an undeclared key in %s, but declared ones", async (command) => {
    for (const call of ["call", "pcall"]) {
      const named = `${flag}return redis.${call}(${literal(command)})`;
      expect(await run(["EVAL", named, 2, "a", "b"])).toEqual(dynamic("x"));
    }
    const composed = `${flag}return redis.call(unpack(ARGV))`;
    expect(await run(["EVAL", composed, 2, "a", "b", ...words(command)])).toEqual(dynamic("x"));
    expect(await direct("DBSIZE")).toBe("0");
    const source = `${flag}return redis.pcall(${literal(command)})`;
    expect(JSON.stringify(await run(["EVAL", source, 3, "a", "b", "x"]))).not.toContain("Dynamic keys");
  });

  test.each(["TIME", "PING", "ECHO x", "PUBLISH x y", "GET a", "SPUBLISH x y", "NOPE x", "GET", ""])(
    "is not stopped by arguments of %j that are no keys",
    async (command) => {
      const source = `${flag}return redis.pcall(unpack(ARGV))`;
      const [, body] = await run(["EVAL", source, 1, "a", ...words(command).filter(Boolean)]);
      expect(JSON.stringify(body)).not.toContain("Dynamic keys");
    },
  );

  test("may build a declared key, as text or as number", async () => {
    const source = `${flag}return redis.call('INCR', 'a' .. 1) + redis.call('INCR', 7)`;
    expect(await run(["EVAL", source, 2, "a1", "7"])).toEqual(ok(2));
  });

  test("keeps what it wrote before the undeclared key", async () => {
    const source = `${flag}redis.call('SET', KEYS[1], 'x') redis.call('SET', 'other', 'x')`;
    expect(await run(["EVAL", source, 1, "a"])).toEqual(dynamic("other"));
    expect(await direct("KEYS", "*")).toEqual([Buffer.from("a")]);
  });

  test("is not needed if strictKeys is always", async () => {
    const source = "return redis.call('GET', 'x')";
    expect(await run(["EVAL", source, 1, "a"])).toEqual(ok(null));
    expect(await always.run(["EVAL", source, 1, "a"])).toEqual(dynamic("x"));
    expect(await always.run(["EVAL", source, 1, "x"])).toEqual(ok(null));
  });
});
