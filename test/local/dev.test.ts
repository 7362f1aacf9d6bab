import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../../src/local/stack/port.ts";
import { startRedis } from "../support/redis.ts";
import { descendants, survivors } from "./processes.ts";

const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
let dev: ChildProcess | undefined;
afterEach(() => dev?.kill("SIGKILL"));

/** Starts `sluice dev` and returns the settings that it prints. */
async function startDev(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Record<string, string>> {
  const { REDIS_URL: _, SLUICE_TOKENS: __, SLUICE_PREFIX: ___, ...own } = process.env;
  dev = spawn(process.execPath, [main, "dev", ...args], {
    env: { ...own, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  dev.stderr?.pipe(process.stderr, { end: false });
  const [text] = (await once(dev.stdout as NonNullable<ChildProcess["stdout"]>, "data")) as [Buffer];
  return parseEnv(text.toString()) as Record<string, string>;
}

async function post(url: string, token: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

test("`sluice dev` prints settings that work, and Ctrl-C leaves nothing", async () => {
  const { SLUICE_URL, SLUICE_TOKEN = "", ...rest } = await startDev([]);
  const { UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN, SLUICE_TOKENS = "" } = rest;
  expect(await post(`${SLUICE_URL}/v1/queues/hello/tasks`, SLUICE_TOKEN, { id: "a", payload: 1 })).toEqual({
    status: 201,
    body: { id: "a", created: true },
  });
  expect(JSON.parse(SLUICE_TOKENS)).toEqual([
    { token: SLUICE_TOKEN, scopes: ["enqueue", "consume", "admin"], queues: "*" },
  ]);
  const dashboard = await fetch(`${SLUICE_URL}/dashboard`);
  expect([dashboard.status, dashboard.headers.get("content-type")]).toEqual([
    200,
    "text/html; charset=utf-8",
  ]);
  await dashboard.body?.cancel();
  expect(
    await post(`${UPSTASH_REDIS_REST_URL}/pipeline`, UPSTASH_REDIS_REST_TOKEN ?? "", [
      ["LLEN", "sluice:{hello}:pending"],
    ]),
  ).toEqual({ status: 200, body: [{ result: 1 }] });

  const processes = descendants(dev?.pid as number);
  expect(processes.map(({ command }) => command)).toContain("redis-server");
  dev?.kill("SIGINT");
  expect(await once(dev as ChildProcess, "exit")).toEqual([0, null]);
  expect(await survivors(processes)).toEqual([]);
});

describe("without a redis-server, `sluice dev`", () => {
  const withoutRedis = { PATH: "/nowhere" };
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), "sluice-test-"))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("uses the embedded store, which starts no process, and deletes its data at the end", async () => {
    const { SLUICE_URL, SLUICE_TOKEN = "" } = await startDev([], withoutRedis);
    expect(await post(`${SLUICE_URL}/v1/queues/hello/tasks`, SLUICE_TOKEN, { payload: 1 })).toMatchObject({
      status: 201,
    });
    expect(descendants(dev?.pid as number)).toEqual([]);
    dev?.kill("SIGINT");
    expect(await once(dev as ChildProcess, "exit")).toEqual([0, null]);
  });

  test("keeps the data in the folder of --data, and the settings of the environment", async () => {
    let settings: Record<string, string> = {};
    for (const created of [true, false]) {
      const { SLUICE_TOKENS, UPSTASH_REDIS_REST_TOKEN } = settings;
      const kept = created ? {} : { SLUICE_TOKENS, UPSTASH_REDIS_REST_TOKEN };
      const printed = await startDev(["--data", folder], { ...withoutRedis, ...kept });
      const { SLUICE_URL } = printed;
      const { SLUICE_TOKEN = "" } = (settings = { ...settings, ...printed });
      expect(settings).toMatchObject(kept);
      const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token = "" } = settings;
      expect(await post(`${url}/pipeline`, token, [["PING"]])).toMatchObject({ body: [{ result: "PONG" }] });
      const task = { id: "kept", payload: 1 };
      expect(await post(`${SLUICE_URL}/v1/queues/hello/tasks`, SLUICE_TOKEN, task)).toMatchObject({
        body: { id: "kept", created },
      });
      dev?.kill("SIGTERM");
      expect(await once(dev as ChildProcess, "exit")).toEqual([0, null]);
      expect(await readdir(folder)).toEqual(["sluice.snapshot"]);
    }
  });

  test("ends with status 1 and one line if the data cannot be written, and keeps the last save", async () => {
    await startDev(["--data", folder], withoutRedis);
    dev?.kill("SIGTERM");
    expect(await once(dev as ChildProcess, "exit")).toEqual([0, null]);
    const file = join(folder, "sluice.snapshot");
    const before = await readFile(file);
    // A folder in place of each file that is written first has the effect of a full disk.
    for (const name of [`${file}.new`, `${file}.last`]) await mkdir(name);
    const { SLUICE_URL, SLUICE_TOKEN = "" } = await startDev(["--data", folder], withoutRedis);
    let complaint = "";
    dev?.stderr?.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
    await post(`${SLUICE_URL}/v1/queues/hello/tasks`, SLUICE_TOKEN, { id: "lost", payload: 1 });
    dev?.kill("SIGTERM");
    expect(await once(dev as ChildProcess, "close")).toEqual([1, null]);
    const lines = complaint
      .split("\n")
      .filter((line) => /is not saved/.test(line) && !line.startsWith("the data"));
    expect(lines).toEqual([
      expect.stringMatching(/^sluice: what changed since the last save is not saved: .*EISDIR/),
    ]);
    expect(complaint).not.toContain("    at ");
    expect(await readFile(file)).toEqual(before);
  });

  test("loses at most the last 5 seconds in a crash", async () => {
    const { SLUICE_URL, SLUICE_TOKEN = "" } = await startDev(["--data", folder], withoutRedis);
    await post(`${SLUICE_URL}/v1/queues/hello/tasks`, SLUICE_TOKEN, { id: "kept", payload: 1 });
    while (!(await readdir(folder)).includes("sluice.snapshot")) await sleep(50);
    dev?.kill("SIGKILL");
    await once(dev as ChildProcess, "exit");
    const again = await startDev(["--data", folder], withoutRedis);
    const known = await post(`${again["SLUICE_URL"]}/v1/queues/hello/tasks`, again["SLUICE_TOKEN"] ?? "", {
      id: "kept",
      payload: 1,
    });
    expect(known).toMatchObject({ body: { created: false } });
  });

  test("says that the data is damaged, or of a redis-server", async () => {
    const started = (path: string) => failing({ PATH: path }, "--data", folder);
    await writeFile(join(folder, "sluice.snapshot"), "half of it");
    expect(await started("/nowhere")).toMatchObject({
      status: 1,
      complaint: expect.stringContaining(
        "sluice.snapshot: this is not a snapshot of the embedded store",
      ) as string,
    });
    expect(await readdir(folder)).toEqual(["sluice.snapshot"]);
    expect(await started(process.env["PATH"] ?? "")).toMatchObject({
      status: 1,
      complaint: expect.stringContaining(
        "is of the embedded store, and a redis-server is on the PATH",
      ) as string,
    });
    await mkdir(join(folder, "appendonlydir"));
    expect(await started("/nowhere")).toMatchObject({
      status: 1,
      complaint: expect.stringContaining("is of a redis-server, and none can be used now") as string,
    });
  });
});

describe.each([
  ["the embedded store", { PATH: "/nowhere" }],
  ["a redis-server", {}],
])("a folder of --data with %s", (_, env) => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), "sluice-test-"))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const stop = async (signal: NodeJS.Signals) => {
    const ended = once(dev as ChildProcess, "exit");
    dev?.kill(signal);
    await ended;
  };

  test("is refused while another process uses it, and free after that, even after a crash", async () => {
    await startDev(["--data", folder], env);
    const first = dev as ChildProcess;
    const before = await readdir(folder);
    const second = await failing(env, "--data", folder);
    expect(second).toEqual({
      status: 1,
      complaint: `sluice: the data folder ${folder} is in use by process ${first.pid}; end that process, or use another folder\n`,
    });
    expect(await readdir(folder)).toEqual(before);
    dev = first;
    await stop("SIGKILL");
    expect(await readdir(folder)).toContain("sluice.lock");
    await startDev(["--data", folder], env);
    await stop("SIGTERM");
    expect(await readdir(folder)).not.toContain("sluice.lock");
  });

  test("is free after a start that failed", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    expect(await failing(env, "--data", folder, "--port", String(port))).toMatchObject({ status: 1 });
    server.close();
    expect(await readdir(folder)).not.toContain("sluice.lock");
  });
});

test("`sluice dev` takes the Redis, the ports and the tokens it is given", async () => {
  const redis = await startRedis();
  try {
    const [port, gatewayPort] = [await freePort(), await freePort()];
    const token = "a-token-of-mine-12345";
    const settings = await startDev(["--port", String(port), "--gateway-port", String(gatewayPort)], {
      REDIS_URL: redis.url,
      SLUICE_TOKENS: JSON.stringify([{ token, scopes: ["enqueue"], queues: "hello" }]),
    });
    expect(settings).toEqual({
      UPSTASH_REDIS_REST_URL: `http://127.0.0.1:${gatewayPort}`,
      UPSTASH_REDIS_REST_TOKEN: expect.any(String) as unknown,
      SLUICE_URL: `http://127.0.0.1:${port}`,
      SLUICE_PREFIX: "sluice-dev",
    });
    expect(await post(`http://127.0.0.1:${port}/v1/queues/hello/tasks`, token, { payload: 1 })).toMatchObject(
      {
        status: 201,
      },
    );
    dev?.kill("SIGTERM");
    expect(await once(dev as ChildProcess, "exit")).toEqual([0, null]);
  } finally {
    await redis.stop();
  }
});

/** Runs `sluice dev` with arguments with which it cannot start. */
async function failing(
  changed: NodeJS.ProcessEnv,
  ...args: string[]
): Promise<{ status: number | null; complaint: string }> {
  const { REDIS_URL: _, SLUICE_TOKENS: __, SLUICE_PREFIX: ___, ...env } = process.env;
  dev = spawn(process.execPath, [main, "dev", ...args], {
    env: { ...env, ...changed },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaint = "";
  dev.stderr?.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  const [status] = (await once(dev, "close")) as [number | null];
  return { status, complaint };
}

test("`sluice dev` says what is wrong with an option, and ends with status 2", async () => {
  expect(await failing({}, "--port", "many")).toEqual({
    status: 2,
    complaint: "sluice: --port must be a number from 0 to 65535\nSee `sluice dev --help`.\n",
  });
});

test.each(["--port", "--gateway-port"])(
  "`sluice dev` says of a port in use that %s chooses another",
  async (option) => {
    const redis = await startRedis();
    try {
      expect(await failing({}, "--redis", redis.url, option, String(redis.port))).toEqual({
        status: 1,
        complaint: `sluice: port ${redis.port} is in use; choose another with ${option} <number>, or 0 for any free port\n`,
      });
    } finally {
      await redis.stop();
    }
  },
);
