import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Redis } from "@upstash/redis";
import { serveSluice } from "../cli/process.ts";
import { runHere } from "../cli/run-here.ts";
import { useFolder } from "../support/folder.ts";
import { closedPort } from "../support/listening.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";
import { rest } from "./stack.ts";

const folder = useFolder();
let redis: SharedRedis;
beforeAll(async () => {
  redis = await sharedRedis();
});
afterAll(() => redis.stop());

/** Starts `sluice gateway`. */
async function serving(args: readonly string[], env: Record<string, string> = {}) {
  const { out, end, pid } = await serveSluice(["gateway", "--port", "0", ...args], env, /REST_TOKEN=.*\n/);
  const { UPSTASH_REDIS_REST_URL: url = "", UPSTASH_REDIS_REST_TOKEN: token } = parseEnv(out);
  return {
    pid,
    out,
    url,
    token,
    client: new Redis({ url, token }),
    /** Ends it by a signal, which has to be clean. */
    end: async (by: NodeJS.Signals) =>
      expect(await end(by)).toMatchObject({ code: 0, signal: null, err: "" }),
  };
}

test("sluice gateway serves at the address that it prints, and SIGTERM ends it cleanly", async () => {
  const { url, token, client, end } = await serving(["--redis", redis.url]);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(token).toMatch(/^[\w-]{32}$/);
  expect(await client.set("key", { a: 1 })).toBe("OK");
  expect(await client.get("key")).toEqual({ a: 1 });
  await end("SIGTERM");
});

test("sluice gateway takes tokens, strict keys, and Redis from REDIS_URL, and SIGINT ends it cleanly", async () => {
  const options = ["--token", "mine", "--read-only-token", "theirs", "--strict-keys", "always"];
  const { url, out, end } = await serving(options, { REDIS_URL: redis.url });
  expect(out).toContain(`# ${redis.url} over the Upstash REST protocol.`);
  expect(out).toContain("\nUPSTASH_REDIS_REST_TOKEN=mine\nUPSTASH_REDIS_REST_READONLY_TOKEN=theirs\n");
  const ask = async (token: string, ...command: unknown[]) =>
    (await rest(url, "/", command, { headers: { authorization: `Bearer ${token}` } })).text;
  expect(await ask("mine", "SET", "key", "x")).toBe('{"result":"OK"}');
  expect(await ask("theirs", "SET", "key", "x")).toContain("NOPERM");
  expect(await ask("mine", "EVAL", "return redis.call('GET', 'key')", "0")).toContain("Key was: key");
  await end("SIGINT");
});

test("sluice gateway --embedded --data serves the embedded store, though there is a Redis, and keeps its data for the next start", async () => {
  const { path } = folder;
  const args = ["--embedded", "--data", path];
  const first = await serving(args, { REDIS_URL: redis.url });
  const list = first.client.createScript<string[]>("return redis.call('COMMAND', 'LIST')");
  const commands = await list.exec([], []);
  expect(commands).toContain("evalsha");
  expect(first.out).toContain(
    `# The embedded store, which keeps its data in ${path} and has ${commands.length} commands, over the Upstash`,
  );
  await first.client.set("key", "value");
  await first.end("SIGTERM");

  const second = await serving(args);
  expect(await runHere(["gateway", ...args], {})).toMatchObject({
    code: 1,
    out: "",
    err: `sluice: the data folder ${path} is in use by process ${second.pid}; end that process, or use another folder\n`,
  });
  expect(await second.client.get("key")).toBe("value");
  await second.end("SIGTERM");
});

test("sluice gateway refuses a folder with the data of a redis-server", async () => {
  await mkdir(join(folder.path, "appendonlydir"));
  expect(await runHere(["gateway", "--embedded", "--data", folder.path], {})).toMatchObject({
    code: 1,
    err: `sluice: the data in ${folder.path} is of a redis-server, and the embedded store cannot read it; use another folder\n`,
  });
});

test("sluice gateway names the option for another port if its port is in use", async () => {
  const { port } = new URL(redis.url);
  expect(await runHere(["gateway", "--redis", redis.url, "--port", port], {})).toMatchObject({
    code: 1,
    out: "",
    err: `sluice: port ${port} is in use; choose another with --port <number>, or 0 for any free port\n`,
  });
});

test.each<[line: string, code: number, text: RegExp, stream: "out" | "err"]>([
  ["--help", 0, /^Usage: sluice <command>[^]*\n {2}gateway +serve a Redis/, "out"],
  ["--version", 0, /^\d+\.\d+\.\d+\n$/, "out"],
  ["gateway --embedded --redis redis://x", 2, /^sluice: --embedded must not be given with --redis/, "err"],
  [
    "gateway --data x --redis redis://u:secret@h",
    2,
    /^sluice: --data is for the embedded store, and redis:\/\/u:[^s]+@h would be served; add --embedded/,
    "err",
  ],
  ["gateway --port 70000", 2, /^sluice: --port must be a number from 0 to 65535\nSee /, "err"],
  ["gateway --strict-keys x", 2, /^sluice: --strict-keys must be one of flagged, always\nSee /, "err"],
  [
    "gateway --redis redis://:a#secret@h",
    2,
    /^sluice: --redis cannot be read; it must [^]*of at most 65535\n/,
    "err",
  ],
  ["gateway --redis http://x", 2, /^sluice: --redis or REDIS_URL must begin with redis:\/\/ or redis/, "err"],
])("sluice %s ends with %i", async (line, code, text, stream) => {
  const ended = await runHere(line.split(" ").filter(Boolean), {});
  expect(ended.code).toBe(code);
  expect(ended[stream]).toMatch(text);
});

test("sluice gateway ends with 1 if its Redis is not there, and names no password", async () => {
  const host = `127.0.0.1:${await closedPort()}`;
  expect(await runHere(["gateway", "--redis", `redis://user:secret@${host}`], {})).toMatchObject({
    code: 1,
    err: `sluice: Redis does not answer: connect ECONNREFUSED ${host}\n`,
  });
});
