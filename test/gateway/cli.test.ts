import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Redis } from "@upstash/redis";
import { essentials } from "../support/environment.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

function sluice(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [main, ...args], { env: { ...essentials, ...env } });
  const output = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.err += chunk.toString()));
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, ...output }));
  return { child, output, ended };
}

/** Waits for the lines that the gateway prints once it serves. */
async function serving(args: readonly string[], env?: Record<string, string>) {
  const { child, output, ended } = sluice(["gateway", "--port", "0", ...args], env);
  while (!/REST_TOKEN=.*\n/.test(output.out)) {
    await Promise.race([once(child.stdout, "data"), ended.then(({ err }) => Promise.reject(new Error(err)))]);
  }
  const lines = Object.fromEntries(
    output.out
      .split("\n")
      .filter((line) => /^\w+=/.test(line))
      .map((line) => line.split(/=(.*)/, 2)),
  ) as Record<string, string>;
  return { child, ended, output, lines };
}

test.each(["SIGINT", "SIGTERM"] as const)(
  "sluice gateway serves at the address that it prints, and %s ends it cleanly",
  async (signal) => {
    const { child, ended, lines } = await serving(["--redis", redis.url]);
    const url = lines["UPSTASH_REDIS_REST_URL"] as string;
    const token = lines["UPSTASH_REDIS_REST_TOKEN"] as string;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(token).toMatch(/^[\w-]{32}$/);
    const client = new Redis({ url, token });
    expect(await client.set("key", { a: 1 })).toBe("OK");
    expect(await client.get("key")).toEqual({ a: 1 });
    child.kill(signal);
    expect(await ended).toMatchObject({ code: 0, signal: null, err: "" });
  },
);

test("sluice gateway takes tokens, strict keys, and Redis from REDIS_URL", async () => {
  const { child, ended, lines, output } = await serving(
    ["--token", "mine", "--read-only-token", "theirs", "--strict-keys", "always"],
    { REDIS_URL: redis.url },
  );
  expect(output.out).toContain(`# ${redis.url} over the Upstash REST protocol.`);
  expect(lines).toMatchObject({
    UPSTASH_REDIS_REST_TOKEN: "mine",
    UPSTASH_REDIS_REST_READONLY_TOKEN: "theirs",
  });
  const ask = async (token: string, ...command: string[]) => {
    const headers = { authorization: `Bearer ${token}` };
    const body = JSON.stringify(command);
    const response = await fetch(lines["UPSTASH_REDIS_REST_URL"] as string, {
      method: "POST",
      headers,
      body,
    });
    return await response.text();
  };
  expect(await ask("mine", "SET", "key", "x")).toBe('{"result":"OK"}');
  expect(await ask("theirs", "SET", "key", "x")).toContain("NOPERM");
  expect(await ask("mine", "EVAL", "return redis.call('GET', 'key')", "0")).toContain("Key was: key");
  child.kill("SIGINT");
  await ended;
});

test("sluice gateway --embedded serves the embedded store, though there is a Redis, and says how many commands it has", async () => {
  const { child, ended, lines, output } = await serving(["--embedded"], { REDIS_URL: redis.url });
  const client = new Redis({
    url: lines["UPSTASH_REDIS_REST_URL"],
    token: lines["UPSTASH_REDIS_REST_TOKEN"],
  });
  const commands = await client.createScript<string[]>("return redis.call('COMMAND', 'LIST')").exec([], []);
  expect(output.out).toContain(
    `# The embedded store, which keeps no data and has ${commands.length} commands, over the Upstash`,
  );
  expect(commands).toContain("evalsha");
  child.kill("SIGINT");
  await ended;
});

test("sluice gateway --data keeps the data of the embedded store for the next start", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-gateway-"));
  const start = async () => {
    const { child, ended, lines, output } = await serving(["--embedded", "--data", folder]);
    const client = new Redis({
      url: lines["UPSTASH_REDIS_REST_URL"],
      token: lines["UPSTASH_REDIS_REST_TOKEN"],
    });
    expect(output.out).toContain(`# The embedded store, which keeps its data in ${folder} and has `);
    const stop = async () => {
      child.kill("SIGTERM");
      expect(await ended).toMatchObject({ code: 0, err: "" });
    };
    return { pid: child.pid, client, stop };
  };
  try {
    const first = await start();
    await first.client.set("key", "value");
    await first.stop();
    const second = await start();
    expect(await sluice(["gateway", "--embedded", "--data", folder]).ended).toMatchObject({
      code: 1,
      out: "",
      err: `sluice: the data folder ${folder} is in use by process ${second.pid}; end that process, or use another folder\n`,
    });
    expect(await second.client.get("key")).toBe("value");
    await second.stop();
    await writeFile(join(folder, "sluice.snapshot"), "damaged");
    expect(await sluice(["gateway", "--embedded", "--data", folder]).ended).toMatchObject({
      code: 1,
      err: expect.stringContaining("sluice.snapshot: this is not a snapshot of the embedded store"),
    });
    expect(await readdir(folder)).toEqual(["sluice.snapshot"]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("sluice gateway refuses a folder with the data of a redis-server", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-gateway-"));
  await mkdir(join(folder, "appendonlydir"));
  const { code, err } = await sluice(["gateway", "--embedded", "--data", folder]).ended;
  await rm(folder, { recursive: true });
  expect([code, err]).toEqual([
    1,
    `sluice: the data in ${folder} is of a redis-server, and the embedded store cannot read it; use another folder\n`,
  ]);
});

test("sluice gateway names the option for another port if its port is in use", async () => {
  const { port } = new URL(redis.url);
  expect(await sluice(["gateway", "--redis", redis.url, "--port", port]).ended).toMatchObject({
    code: 1,
    out: "",
    err: `sluice: port ${port} is in use; choose another with --port <number>, or 0 for any free port\n`,
  });
});

test("sluice gateway hides the password of Redis", async () => {
  const { ended } = sluice(["gateway", "--redis", "redis://user:secret@127.0.0.1:1"]);
  const { code, out, err } = await ended;
  expect([code, out, err]).toEqual([
    1,
    "",
    "sluice: Redis does not answer: connect ECONNREFUSED 127.0.0.1:1\n",
  ]);
});

test.each([
  [[], 2, /^Usage: sluice <command>/, "err"],
  [["--help"], 0, /^Usage: sluice <command>[^]*\n {2}gateway +serve a Redis/, "out"],
  [["--version"], 0, /^\d+\.\d+\.\d+\n$/, "out"],
  [["gateway", "--help"], 0, /^Usage: sluice gateway \[options\]\n/, "out"],
  [["nope"], 2, /^sluice: unknown command 'nope'\nSee `sluice --help`\.\n$/, "err"],
  [["help"], 0, /^Usage: sluice <command>/, "out"],
  [["gateway", "--nope"], 2, /^sluice: unknown option '--nope'\nSee `sluice gateway --help`\.\n$/, "err"],
  [
    ["gateway", "--embedded", "--redis", "redis://x"],
    2,
    /^sluice: --embedded must not be given with --redis/,
    "err",
  ],
  [
    ["gateway", "--data", "x", "--redis", "redis://u:secret@h"],
    2,
    /^sluice: --data is for the embedded store, and redis:\/\/u:[^s]+@h would be served; add --embedded/,
    "err",
  ],
  [["gateway", "--port", "70000"], 2, /^sluice: --port must be a number from 0 to 65535\nSee /, "err"],
  [
    ["gateway", "--strict-keys", "x"],
    2,
    /^sluice: --strict-keys must be one of flagged, always\nSee /,
    "err",
  ],
  [
    ["gateway", "--redis", "http://x"],
    2,
    /^sluice: --redis or REDIS_URL must begin with redis:\/\/ or rediss:\/\/\nSee /,
    "err",
  ],
] as const)("sluice %j ends with %i", async (args, code, text, stream) => {
  const ended = await sluice(args).ended;
  expect(ended.code).toBe(code);
  expect(ended[stream]).toMatch(text);
});
