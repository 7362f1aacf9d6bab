import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { freePort } from "../../src/local/stack/port.ts";
import { serveSluice } from "../cli/process.ts";
import { runHere } from "../cli/run-here.ts";
import { essentials } from "../support/environment.ts";
import { useFolder } from "../support/folder.ts";
import { listening } from "../support/listening.ts";
import { startRedis } from "../support/redis.ts";
import { descendants, survivors } from "./processes.ts";

/** No redis-server is there. */
const withoutRedis = { PATH: "/nowhere" };

const folder = useFolder();
afterEach(() => vi.unstubAllEnvs());

/** Starts `sluice dev`, at free ports unless others are given. */
async function startDev(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const ports = args.includes("--port") ? [] : ["--port", "0", "--gateway-port", "0"];
  const { pid, out, end } = await serveSluice(["dev", ...ports, ...args], env, /\n$/);
  const settings = parseEnv(out);
  const { SLUICE_URL, SLUICE_TOKEN, UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN } = settings;
  const post = async (url: string, token: string | undefined, body: unknown) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  };
  return {
    pid,
    settings,
    enqueue: (task: object) =>
      post(`${SLUICE_URL}/v1/queues/hello/tasks`, SLUICE_TOKEN ?? env["TOKEN"], task),
    command: (...words: string[]) =>
      post(`${UPSTASH_REDIS_REST_URL}/pipeline`, UPSTASH_REDIS_REST_TOKEN, [words]),
    end,
  };
}

const ENDED = { code: 0, signal: null };

/** Runs `sluice dev` in this process with arguments with which it cannot start. */
async function failing(env: NodeJS.ProcessEnv, ...args: string[]) {
  if (env["PATH"] !== undefined) vi.stubEnv("PATH", env["PATH"]);
  const before = process.listeners("SIGINT").length;
  const { code, err } = await runHere(["dev", ...args], { ...essentials, ...env });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    for (const listener of process.listeners(signal).slice(before)) process.off(signal, listener);
  vi.unstubAllEnvs();
  return { code, err };
}

test("`sluice dev` prints settings that work, and Ctrl-C leaves nothing", async () => {
  const { settings, pid, enqueue, command, end } = await startDev([]);
  const { SLUICE_URL, SLUICE_TOKEN, SLUICE_TOKENS = "" } = settings;
  expect(await enqueue({ id: "a", payload: 1 })).toEqual({ status: 201, body: { id: "a", created: true } });
  expect(JSON.parse(SLUICE_TOKENS)).toEqual([
    { token: SLUICE_TOKEN, scopes: ["enqueue", "consume", "admin"], queues: "*" },
  ]);
  const dashboard = await fetch(`${SLUICE_URL}/dashboard`);
  expect([dashboard.status, dashboard.headers.get("content-type")]).toEqual([
    200,
    "text/html; charset=utf-8",
  ]);
  await dashboard.body?.cancel();
  expect(await command("LLEN", "sluice:{hello}:pending")).toEqual({ status: 200, body: [{ result: 1 }] });

  const processes = descendants(pid);
  expect(processes.map(({ command: name }) => name)).toContain("redis-server");
  expect(await end("SIGINT")).toMatchObject(ENDED);
  expect(await survivors(processes)).toEqual([]);
});

describe("without a redis-server, `sluice dev`", () => {
  test("starts no process; keeps the data in the folder of --data, and the last save if it cannot save", async () => {
    let settings: NodeJS.ProcessEnv = {};
    for (const created of [true, false]) {
      const { SLUICE_TOKENS, UPSTASH_REDIS_REST_TOKEN, SLUICE_TOKEN: TOKEN } = settings;
      // As the second start has them in its environment.
      const kept = created ? {} : { SLUICE_TOKENS, UPSTASH_REDIS_REST_TOKEN, TOKEN };
      const started = await startDev(["--data", folder.path], { ...withoutRedis, ...kept });
      if (!created) expect(started.settings["UPSTASH_REDIS_REST_TOKEN"]).toBe(UPSTASH_REDIS_REST_TOKEN);
      settings = started.settings;
      expect(descendants(started.pid)).toEqual([]);
      expect(await started.command("PING")).toMatchObject({ body: [{ result: "PONG" }] });
      const enqueued = await started.enqueue({ id: "kept", payload: 1 });
      expect(enqueued).toMatchObject({ body: { id: "kept", created } });
      expect(await started.end("SIGTERM")).toMatchObject(ENDED);
      expect(await readdir(folder.path)).toEqual(["sluice.snapshot"]);
    }

    const file = join(folder.path, "sluice.snapshot");
    const before = await readFile(file);
    // A folder in place of each file that is written first has the effect of a full disk.
    for (const name of [`${file}.new`, `${file}.last`]) await mkdir(name);
    const { enqueue, end } = await startDev(["--data", folder.path], withoutRedis);
    await enqueue({ id: "lost", payload: 1 });
    const { code, err } = await end("SIGTERM");
    expect(code).toBe(1);
    const lines = err.split("\n").filter((line) => /is not saved/.test(line) && !line.startsWith("the data"));
    expect(lines).toEqual([
      expect.stringMatching(/^sluice: what changed since the last save is not saved: .*EISDIR/),
    ]);
    expect(err).not.toContain("    at ");
    expect(await readFile(file)).toEqual(before);
  });

  test("says that the data is damaged, or of a redis-server", async () => {
    const started = (env: NodeJS.ProcessEnv) => failing(env, "--data", folder.path);
    await writeFile(join(folder.path, "sluice.snapshot"), "half of it");
    expect(await started(withoutRedis)).toMatchObject({
      code: 1,
      err: expect.stringContaining("sluice.snapshot: this is not a snapshot of the embedded store"),
    });
    expect(await readdir(folder.path)).toEqual(["sluice.snapshot"]);
    expect(await started({})).toMatchObject({
      code: 1,
      err: expect.stringContaining("is of the embedded store, and a redis-server is on the PATH"),
    });
    await mkdir(join(folder.path, "appendonlydir"));
    expect(await started(withoutRedis)).toMatchObject({
      code: 1,
      err: expect.stringContaining("is of a redis-server, and none can be used now"),
    });
  });
});

describe.each([
  ["the embedded store", withoutRedis],
  ["a redis-server", {}],
])("a folder of --data with %s", (store, env) => {
  test("is refused while another process uses it, and free after a crash, which loses at most 5 seconds", async () => {
    const { pid, enqueue, end } = await startDev(["--data", folder.path], env);
    await enqueue({ id: "kept", payload: 1 });
    const saved = store === "the embedded store" ? "sluice.snapshot" : "appendonlydir";
    await expect.poll(() => readdir(folder.path)).toContain(saved);
    const before = await readdir(folder.path);
    expect(await failing(env, "--data", folder.path)).toEqual({
      code: 1,
      err: `sluice: the data folder ${folder.path} is in use by process ${pid}; end that process, or use another folder\n`,
    });
    expect(await readdir(folder.path)).toEqual(before);
    // A redis-server writes what it has added within a second.
    const aof = async () =>
      (await readdir(join(folder.path, "appendonlydir"))).map((name) =>
        join(folder.path, "appendonlydir", name),
      );
    if (saved === "appendonlydir")
      await expect
        .poll(async () => (await Promise.all((await aof()).map((name) => readFile(name, "latin1")))).join(""))
        .toContain("kept");
    await end("SIGKILL");
    expect(await readdir(folder.path)).toContain("sluice.lock");
    const again = await startDev(["--data", folder.path], env);
    expect(await again.enqueue({ id: "kept", payload: 1 })).toMatchObject({ body: { created: false } });
    await again.end("SIGTERM");
    expect(await readdir(folder.path)).not.toContain("sluice.lock");
  });

  test("is free after a start that failed", async () => {
    const server = createServer();
    const port = await listening(server);
    expect(await failing(env, "--data", folder.path, "--port", String(port))).toMatchObject({ code: 1 });
    server.close();
    expect(await readdir(folder.path)).not.toContain("sluice.lock");
  });
});

test("`sluice dev` takes the Redis, the ports and the tokens it is given; it names an option for a port in use", async () => {
  const redis = await startRedis();
  try {
    const [port, gatewayPort] = [await freePort(), await freePort()];
    const TOKEN = "a-token-of-mine-12345";
    const { settings, enqueue, end } = await startDev(
      ["--port", String(port), "--gateway-port", String(gatewayPort)],
      {
        TOKEN,
        REDIS_URL: redis.url,
        SLUICE_TOKENS: JSON.stringify([{ token: TOKEN, scopes: ["enqueue"], queues: "hello" }]),
      },
    );
    expect(settings).toEqual({
      UPSTASH_REDIS_REST_URL: `http://127.0.0.1:${gatewayPort}`,
      UPSTASH_REDIS_REST_TOKEN: expect.any(String) as unknown,
      SLUICE_URL: `http://127.0.0.1:${port}`,
      SLUICE_PREFIX: "sluice-dev",
    });
    expect(await enqueue({ payload: 1 })).toMatchObject({ status: 201 });
    expect(await end("SIGTERM")).toMatchObject(ENDED);
    for (const option of ["--port", "--gateway-port"])
      expect(await failing({}, "--redis", redis.url, option, String(redis.port))).toEqual({
        code: 1,
        err: `sluice: port ${redis.port} is in use; choose another with ${option} <number>, or 0 for any free port\n`,
      });
  } finally {
    await redis.stop();
  }
});

test("`sluice dev` says what is wrong with an option, and ends with status 2", async () => {
  expect(await failing({}, "--port", "many")).toEqual({
    code: 2,
    err: "sluice: --port must be a number from 0 to 65535\nSee `sluice dev --help`.\n",
  });
});
