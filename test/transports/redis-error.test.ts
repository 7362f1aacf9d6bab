import { describe, expect, test } from "vitest";

import { redisError, redact } from "../../src/transports/redis-error.ts";
import { isNoScript, isRefusedForNow } from "../../src/transports/redis-refusal.ts";
import { Connection } from "../../src/transports/resp-connection.ts";

describe("redisError", () => {
  test.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", "queue_full"],
    ["ERR Error running script: @user_script:3: -OOM command not allowed when used memory", "queue_full"],
    ["ERR max single record size exceeded", "queue_full"],
    ["ERR max database size exceeded", "queue_full"],
    ["ERR max storage size exceeded. Limit: 1 bytes", "queue_full"],
    ["ERR max request size exceeded. Limit: 10 bytes, Actual: 11 bytes.", "too_large"],
    ["ERR max requests limit exceeded. Limit: 500000, Usage: 500000.", "redis_quota"],
    ["ERR max daily request limit exceeded", "redis_quota"],
    ["WRONGPASS invalid or missing auth token", "redis_unauthorized"],
    ["NOAUTH Authentication required.", "redis_unauthorized"],
    // What Redis says instead if the command has more than ten words.
    ["ERR Protocol error: unauthenticated multibulk length", "redis_unauthorized"],
    ["NOPERM this user has no permissions to run the 'evalsha' command", "redis_unauthorized"],
    [
      "ERR ACL failure in script: User default has no permissions to run the 'hset' command script: 42, on @user_script:1.",
      "redis_unauthorized",
    ],
    ["ERR ACL failure in script: No permissions to access a key", "redis_unauthorized"],
    [
      "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments",
      "redis_unauthorized",
    ],
    ["ERR AUTH <password> called without any password configured", "redis_unauthorized"],
    ["Unauthorized", "redis_unauthorized"],
    ["WRONGTYPE Operation against a key holding the wrong kind of value", "redis_error"],
    ["ERR Error running script: user_script:1: attempt to index a nil value", "redis_error"],
  ])("%s is %s", (text, code) => {
    const error = redisError(text);
    expect(error.code).toBe(code);
    expect(error.message.endsWith(`: ${text}`)).toBe(true);
  });
});

describe("what passes", () => {
  test.each([
    "LOADING Redis is loading the dataset in memory",
    "BUSY Redis is busy running a script.",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "MASTERDOWN Link with MASTER is down",
    "CLUSTERDOWN The cluster is down",
    "READONLY You can't write against a read only replica. script: 0af1, on @user_script:1.",
    "ERR Error running script (call to f_0af1): @user_script:1: @user_script: 1: -READONLY You can't write",
    "NOREPLICAS Not enough good replicas to write.",
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
  ])("%s", (text) => expect(isRefusedForNow(text)).toBe(true));

  test.each(["BUSYGROUP Consumer Group name already exists", "BUSYKEY", "ERR LOADING", "OOM", "READONLYX"])(
    "not %s",
    (text) => expect(isRefusedForNow(text)).toBe(false),
  );

  test("an unknown script is recognized by its code", () => {
    expect(isNoScript("NOSCRIPT No matching script. Please use EVAL.")).toBe(true);
    expect(isNoScript("ERR the script said NOSCRIPT")).toBe(false);
  });
});

describe("an error text", () => {
  test("ends where it begins to repeat the command", () => {
    expect(redact('ERR syntax, command was: ["SET","k","secret"]')).toBe("ERR syntax");
    expect(redact("ERR unknown command 'X', with args beginning with: 'secret' ")).toBe(
      "ERR unknown command 'X'",
    );
  });

  test("loses the arguments of the command, and keeps its keys and its script", () => {
    const call = ["EVALSHA", "0123456789abcdef", "1", "sluice:{mail}:tasks", "a-payload", "12"];
    const text = "ERR 0123456789abcdef on sluice:{mail}:tasks: a-payload is no number, 12 is";
    expect(redact(text, call)).toBe("ERR 0123456789abcdef on sluice:{mail}:tasks: … is no number, 12 is");
    expect(redact("ERR bad field a-field-name", ["HGET", "key", "a-field-name"])).toBe("ERR bad field …");
  });

  test("of a network error loses the arguments, too", async () => {
    const client = { sendCommand: () => Promise.reject(new Error("no room for a-payload")) };
    const sending = new Connection({} as never, "redis://a", 1).send(client as never, ["ECHO", "a-payload"]);
    expect(await sending).toEqual({ lost: "a network error (no room for …)" });
  });

  test("is cut if it is long", () => {
    expect(redact("x".repeat(5_000))).toHaveLength(501);
  });
});
