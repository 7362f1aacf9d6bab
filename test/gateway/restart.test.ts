import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { connectRedis } from "../../src/local/gateway/redis.ts";
import { RedisUnavailable } from "../../src/local/gateway/redis-client.ts";
import { startGateway } from "../../src/local/index.ts";
import { startRedis } from "../support/redis.ts";
import { rest, token } from "./stack.ts";

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

/** Starts a new Redis on the port of an earlier one. */
async function startAgain(port: number): Promise<void> {
  const server = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", ""], {
    stdio: "ignore",
  });
  ends.push(async () => {
    const closed = once(server, "close");
    server.kill("SIGKILL");
    await closed;
  });
  for (;;) {
    try {
      (await connectRedis(`redis://127.0.0.1:${port}`, () => {})).close();
      return;
    } catch {
      await sleep(10);
    }
  }
}

test("while Redis is down every request fails with 500, and works again when it is back", async () => {
  const redis = await startRedis();
  const log: string[] = [];
  const gateway = await startGateway({ redisUrl: redis.url, token, log: (line) => log.push(line) });
  ends.push(() => gateway.close());
  const ask = (body: unknown, path = "/") => rest(gateway.url, path, body);
  const loaded = (await ask(["SCRIPT", "LOAD", "return redis.call('INCR', KEYS[1])"])).json as {
    result: string;
  };
  expect((await ask(["EVALSHA", loaded.result, 1, "n"])).json).toEqual({ result: 1 });

  const underWay = Promise.all([
    ask(["EVAL", "while true do end", 0]),
    ask(["INCR", "n"]),
    ask(
      [
        ["INCR", "n"],
        ["INCR", "n"],
      ],
      "/multi-exec",
    ),
  ]);
  await sleep(50);
  await redis.stop();
  for (const { status, json } of await underWay) {
    expect([status, json]).toEqual([500, { error: expect.stringMatching(/^ERR Redis is not reachable: /) }]);
  }
  for (const [body, path] of [
    [["PING"], "/"],
    [[["GET", "n"], ["PING"]], "/pipeline"],
    [[["GET", "n"]], "/multi-exec"],
  ] as const) {
    const { status, json } = await ask(body, path);
    expect([status, json]).toEqual([500, { error: expect.stringMatching(/^ERR Redis is not reachable: /) }]);
  }
  expect(gateway.usage().byCommand).toEqual({ EVALSHA: 1, INCR: 1, "SCRIPT|LOAD": 1 });

  await startAgain(redis.port);
  while ((await ask(["PING"])).status === 500) await sleep(20);
  expect((await ask(["GET", "n"])).json).toEqual({ result: null });
  const { status, json } = await ask(["EVALSHA", loaded.result, 1, "n"]);
  expect([status, json]).toEqual([400, { error: "NOSCRIPT No matching script. Please use EVAL." }]);
  expect(
    (
      await ask(
        [
          ["INCR", "n"],
          ["INCR", "n"],
        ],
        "/multi-exec",
      )
    ).json,
  ).toEqual([{ result: 1 }, { result: 2 }]);
  expect(log).toEqual([expect.stringMatching(/^Redis is unreachable: /), "Redis is reachable again"]);
});

test("the gateway does not start without Redis", async () => {
  const starting = startGateway({ redisUrl: "redis://127.0.0.1:1", token });
  await expect(starting).rejects.toThrow(RedisUnavailable);
  await expect(starting).rejects.toThrow(/^Redis does not answer: connect ECONNREFUSED 127\.0\.0\.1:1$/);
});

test("the gateway does not start on a port in use, and closes its connections to Redis", async () => {
  const redis = await startRedis();
  ends.push(() => redis.stop());
  const first = await startGateway({ redisUrl: redis.url, token });
  const port = Number(new URL(first.url).port);
  await expect(startGateway({ redisUrl: redis.url, token, port })).rejects.toThrow(/EADDRINUSE/);
  await first.close();
  const direct = await connectRedis(redis.url, () => {});
  while (
    String(await direct.send(["CLIENT", "LIST"]))
      .trim()
      .split("\n").length > 1
  )
    await sleep(10);
  direct.close();
});

test("a password and a database in the URL are used", async () => {
  const redis = await startRedis();
  ends.push(() => redis.stop());
  const direct = await connectRedis(redis.url, () => {});
  await direct.send(["CONFIG", "SET", "requirepass", "secret"]);
  direct.close();
  await expect(startGateway({ redisUrl: redis.url, token })).rejects.toThrow(/NOAUTH/);
  const gateway = await startGateway({ redisUrl: redis.url.replace("//", "//:secret@") + "/3", token });
  await rest(gateway.url, "/", ["SET", "key", "x"]);
  const third = await connectRedis(redis.url.replace("//", "//:secret@") + "/3", () => {});
  expect(await third.send(["GET", "key"])).toEqual(Buffer.from("x"));
  third.close();
  await gateway.close();
});
