import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Running } from "../../../src/local/stack/running.ts";
import { startStack } from "../../../src/local/stack/stack.ts";
import { resp } from "../../../src/transport/resp.ts";
import { startRedis } from "../../support/redis.ts";
import { descendants, survivors } from "../../local/processes.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Started {
  readonly url: string;
  readonly tokens: { readonly all: string };
}

async function startProgram(): Promise<{ program: ChildProcess; started: Started }> {
  const path = fileURLToPath(new URL("stack-program.ts", import.meta.url));
  const program = fork(path, [folder], { stdio: ["ignore", "ignore", "inherit", "ipc"], execArgv: [] });
  const [started] = (await once(program, "message")) as [Started];
  return { program, started };
}

async function enqueue({ url, tokens }: Started): Promise<number> {
  const response = await fetch(`${url}/v1/queues/hello/tasks`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.all}`, "content-type": "application/json" },
    body: JSON.stringify({ payload: { to: "you" } }),
  });
  await response.body?.cancel();
  return response.status;
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "after %s nothing of the stack is left",
  async (signal) => {
    const { program, started } = await startProgram();
    expect(await enqueue(started)).toBe(201);
    const processes = descendants(program.pid as number);
    expect(processes.map(({ command }) => command)).toEqual(
      expect.arrayContaining(["redis-server", "workerd"]),
    );
    program.kill(signal);
    expect(await once(program, "exit")).toEqual([0, null]);
    expect(await survivors(processes)).toEqual([]);
  },
);

test("a stack whose process is killed leaves no process behind", async () => {
  const { program } = await startProgram();
  const processes = descendants(program.pid as number);
  program.kill("SIGKILL");
  await once(program, "exit");
  expect(await survivors(processes)).toEqual([]);
});

test("the files that the Worker needs while it runs are in the folder of the stack", async () => {
  const { program } = await startProgram();
  try {
    // One or two, as miniflare starts a second instance for its proxy at its own time.
    const kept = readdirSync(join(folder, "worker"));
    expect(kept).not.toEqual([]);
    expect(kept.filter((name) => !name.startsWith("miniflare-"))).toEqual([]);
  } finally {
    program.kill("SIGTERM");
    await once(program, "exit");
  }
  expect(readdirSync(join(folder, "worker"))).toEqual([]);
});

test("a Redis that existed before the stack keeps its keys, and no key of the stack", async () => {
  const redis = await startRedis();
  const transport = resp(redis.url);
  const running = new Running();
  try {
    await transport.send([["SET", "sluice:queues", "of another program"]]);
    const started = await startStack(running, { folder, redisUrl: redis.url, log: console.error });
    expect(await enqueue(started)).toBe(201);
    const [during] = await transport.send([["DBSIZE"]]);
    expect(during).not.toEqual({ reply: 1 });
    await running.stop();
    expect(await transport.send([["KEYS", "*"]])).toEqual([{ reply: ["sluice:queues"] }]);
  } finally {
    await running.stop();
    await transport.close();
    await redis.stop();
  }
});

test("a part that ends by itself fails the stack, and the error names it", async () => {
  const running = new Running();
  try {
    await startStack(running, { folder, log: () => {} });
    const redis = descendants(process.pid).find(({ command }) => command === "redis-server");
    process.kill(redis?.pid as number, "SIGKILL");
    await expect(running.failed).rejects.toThrow("redis-server was ended by SIGKILL");
  } finally {
    await running.stop();
  }
});
