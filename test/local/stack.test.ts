import { expect, test } from "vitest";
import { Running } from "../../src/local/stack/running.ts";
import { startStack } from "../../src/local/stack/stack.ts";
import { resp } from "../../src/transports/resp.ts";
import { useFolder } from "../support/folder.ts";
import { startRedis } from "../support/redis.ts";
import { descendants } from "./processes.ts";

// With a Worker in workerd: test/platforms/cloudflare/local-stack.test.ts.

const folder = useFolder();

test("a Redis that existed before the stack keeps its keys, and no key of the stack", async () => {
  const redis = await startRedis();
  const transport = resp(redis.url);
  const running = new Running();
  try {
    await transport.send([["SET", "sluice:queues", "of another program"]]);
    const started = await startStack(running, {
      folder: folder.path,
      runtime: "node",
      redisUrl: redis.url,
      log: console.error,
    });
    const { status } = await fetch(`${started.url}/v1/queues/hello/tasks`, {
      method: "POST",
      headers: { authorization: `Bearer ${started.tokens.all}`, "content-type": "application/json" },
      body: JSON.stringify({ payload: { to: "you" } }),
    });
    expect(status).toBe(201);
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
  // Of earlier files of this process.
  const others = new Set(descendants(process.pid).map(({ pid }) => pid));
  try {
    await startStack(running, { folder: folder.path, runtime: "node", log: () => {} });
    const redis = descendants(process.pid).find(
      ({ command, pid }) => command === "redis-server" && !others.has(pid),
    );
    process.kill(redis?.pid as number, "SIGKILL");
    await expect(running.failed).rejects.toThrow("redis-server was ended by SIGKILL");
  } finally {
    await running.stop();
  }
});
