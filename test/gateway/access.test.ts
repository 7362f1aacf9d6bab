import { afterAll, beforeAll, expect, test } from "vitest";
import { readOnlyToken, type Stack, startStack, token } from "./stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

const wrongPass = { error: "WRONGPASS invalid or missing auth token" };
const noPermission = (name: string) => ({
  error: `NOPERM this user has no permissions to run the '${name}' command or its subcommand`,
});
const send = async (path: string, body: unknown, authorization: string) => {
  const { status, json } = await stack.rest(path, body, { headers: { authorization } });
  return [status, json];
};
const readOnly = (body: unknown, path = "/") => send(path, body, `Bearer ${readOnlyToken}`);

test("no token, or a wrong one, is refused with 401 on every path", async () => {
  for (const authorization of ["", "Bearer", "Bearer wrong", `Basic ${token}`, token, `Bearer ${token}x`]) {
    expect(await send("/", ["PING"], authorization)).toEqual([401, wrongPass]);
  }
  for (const path of [
    "/ping",
    "/pipeline",
    "/multi-exec",
    "/-/usage",
    "/ping?_token=wrong",
    "/ping?_token=",
  ]) {
    expect(await send(path, [["PING"]], "")).toEqual([401, wrongPass]);
  }
  expect(stack.gateway.usage().requests).toBe(0);
});

test("the token may be in the URL", async () => {
  expect(await send(`/set/foo/bar?_token=${token}`, undefined, "")).toEqual([200, { result: "OK" }]);
  expect(await send(`/get/foo?_token=${readOnlyToken}`, undefined, "")).toEqual([200, { result: "bar" }]);
});

test("the scheme Bearer is taken in any case", async () => {
  expect(await send("/ping", undefined, `bearer ${token}`)).toEqual([200, { result: "PONG" }]);
});

test("the read-only token reads", async () => {
  await stack.rest("/", ["SET", "text", "x"]);
  expect(await readOnly(["GET", "text"])).toEqual([200, { result: "x" }]);
  expect(await readOnly(["PING"])).toEqual([200, { result: "PONG" }]);
  expect(await readOnly(["MGET", "text", "none"])).toEqual([200, { result: ["x", null] }]);
  expect(await readOnly(["EVAL_RO", "return redis.call('GET', KEYS[1])", 1, "text"])).toEqual([
    200,
    { result: "x" },
  ]);
});

test.each([
  [["SET", "text", "y"], "set"],
  [["DEL", "text"], "del"],
  [["GETDEL", "text"], "getdel"],
  [["FLUSHALL"], "flushall"],
  [["KEYS", "*"], "keys"],
  [["SCAN", "0"], "scan"],
  [["EVAL", "return 1", 0], "eval"],
  [["evalsha", "0".repeat(40), 0], "evalsha"],
  [["SCRIPT", "LOAD", "return 1"], "script"],
  [["PUBLISH", "ch", "x"], "publish"],
])("the read-only token may not run %j", async (command, name) => {
  await stack.rest("/", ["SET", "text", "x"]);
  expect(await readOnly(command)).toEqual([400, noPermission(name)]);
  expect((await stack.rest("/", ["GET", "text"])).json).toEqual({ result: "x" });
});

test("EVAL_RO may not write, with either token", async () => {
  const write = ["EVAL_RO", "return redis.call('SET', KEYS[1], 'y')", 1, "text"];
  const [status, body] = await readOnly(write);
  expect([status, body]).toEqual([
    400,
    { error: expect.stringMatching(/^ERR Write commands are not allowed from read-only scripts\. script: /) },
  ]);
});

test("one refused command refuses a transaction, but not a pipeline", async () => {
  await stack.rest("/", ["SET", "text", "x"]);
  const commands = [
    ["GET", "text"],
    ["SET", "text", "y"],
  ];
  expect(await readOnly(commands, "/pipeline")).toEqual([200, [{ result: "x" }, noPermission("set")]]);
  expect(await readOnly(commands, "/multi-exec")).toEqual([400, noPermission("set")]);
  expect(await readOnly([["GET", "text"]], "/multi-exec")).toEqual([200, [{ result: "x" }]]);
});

test("the read-only token does not reach the gateway's own paths", async () => {
  expect((await readOnly(undefined, "/-/usage"))[0]).toBe(400);
  expect((await readOnly({ kind: "cut" }, "/-/faults"))[0]).toBe(400);
  expect(stack.gateway.faults.list()).toEqual([]);
});
