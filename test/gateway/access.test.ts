import { expect, test } from "vitest";
import { failed, ok, readOnlyToken, token, useStack, words } from "./stack.ts";

const { its, ask, run } = useStack();

const wrongPass = failed("WRONGPASS invalid or missing auth token", 401);
const noPermission = (name: string) =>
  failed(`NOPERM this user has no permissions to run the '${name}' command or its subcommand`);
const send = (path: string, body: unknown, authorization: string) =>
  ask(path, body, { headers: { authorization } });
const readOnly = (body: unknown, path = "/") => send(path, body, `Bearer ${readOnlyToken}`);

test("no token, or a wrong one, is refused with 401 on every path", async () => {
  for (const authorization of ["", "Bearer", "Bearer wrong", `Basic ${token}`, token, `Bearer ${token}x`])
    expect(await send("/", ["PING"], authorization)).toEqual(wrongPass);
  for (const path of ["/ping", "/pipeline", "/multi-exec", "/-/usage", "/ping?_token=wrong", "/ping?_token="])
    expect(await send(path, [["PING"]], "")).toEqual(wrongPass);
  expect(its.stack.gateway.usage().requests).toBe(0);
});

test("the token may be in the URL, and the scheme Bearer in any case", async () => {
  expect(await send(`/set/foo/bar?_token=${token}`, undefined, "")).toEqual(ok("OK"));
  expect(await send(`/get/foo?_token=${readOnlyToken}`, undefined, "")).toEqual(ok("bar"));
  expect(await send("/ping", undefined, `bearer ${token}`)).toEqual(ok("PONG"));
});

test("the read-only token reads", async () => {
  await run("SET text x");
  expect(await readOnly(["GET", "text"])).toEqual(ok("x"));
  expect(await readOnly(["PING"])).toEqual(ok("PONG"));
  expect(await readOnly(["MGET", "text", "none"])).toEqual(ok(["x", null]));
  expect(await readOnly(["EVAL_RO", "return redis.call('GET', KEYS[1])", 1, "text"])).toEqual(ok("x"));
});

test.each([
  "SET text y",
  "DEL text",
  "GETDEL text",
  "FLUSHALL",
  "KEYS *",
  "SCAN 0",
  "EVAL return 0",
  `evalsha ${"0".repeat(40)} 0`,
  "SCRIPT LOAD return",
  "PUBLISH ch x",
])("the read-only token may not run %s", async (command) => {
  await run("SET text x");
  expect(await readOnly(words(command))).toEqual(noPermission(command.split(" ")[0]!.toLowerCase()));
  expect(await run("GET text")).toEqual(ok("x"));
});

test("EVAL_RO may not write", async () => {
  const write = ["EVAL_RO", "return redis.call('SET', KEYS[1], 'y')", 1, "text"];
  const refused = /^ERR Write commands are not allowed from read-only scripts\. script: /;
  expect(await readOnly(write)).toEqual(failed(expect.stringMatching(refused)));
});

test("one refused command refuses a transaction, but not a pipeline", async () => {
  await run("SET text x");
  const commands = ["GET text", "SET text y"].map(words);
  expect(await readOnly(commands, "/pipeline")).toEqual([200, [{ result: "x" }, noPermission("set")[1]]]);
  expect(await readOnly(commands, "/multi-exec")).toEqual(noPermission("set"));
  expect(await readOnly(commands.slice(0, 1), "/multi-exec")).toEqual([200, [{ result: "x" }]]);
});

test("the read-only token does not reach the gateway's own paths", async () => {
  expect((await readOnly(undefined, "/-/usage"))[0]).toBe(400);
  expect((await readOnly({ kind: "cut" }, "/-/faults"))[0]).toBe(400);
  expect(its.stack.gateway.faults.list()).toEqual([]);
});
