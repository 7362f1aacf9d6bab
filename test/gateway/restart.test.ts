import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { connectRedis } from "../../src/local/gateway/redis.ts";
import { startGateway } from "../../src/local/index.ts";
import { startRedis } from "../support/redis.ts";
import { failed, ok, rest, token, words } from "./stack.ts";

async function newRedis() {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  return redis;
}

test("while Redis is down every request fails with 500, and works again when it is back", async () => {
  const redis = await newRedis();
  const log: string[] = [];
  const gateway = await startGateway({ redisUrl: redis.url, token, log: (line) => log.push(line) });
  onTestFinished(() => gateway.close());
  const ask = async (body: unknown, path = "/") => {
    const { status, json } = await rest(gateway.url, path, body);
    return [status, json];
  };
  const [increment, ping] = [["INCR", "n"], ["PING"]];
  const [, loaded] = await ask(["SCRIPT", "LOAD", "return redis.call('INCR', KEYS[1])"]);
  const call = ["EVALSHA", (loaded as { result: string }).result, 1, "n"];
  expect(await ask(call)).toEqual(ok(1));

  const underWay = [
    ask(["EVAL", "while true do end", 0]),
    ask(increment),
    ask([increment, increment], "/multi-exec"),
  ];
  await sleep(50);
  await redis.kill();
  const isDown = failed(expect.stringMatching(/^ERR Redis is not reachable: /), 500);
  expect(await Promise.all(underWay)).toEqual([isDown, isDown, isDown]);
  expect(await ask(ping)).toEqual(isDown);
  expect(await ask(["GET n", "PING"].map(words), "/pipeline")).toEqual(isDown);
  expect(gateway.usage().byCommand).toEqual({ EVALSHA: 1, INCR: 1, "SCRIPT|LOAD": 1 });

  await redis.restart();
  while ((await ask(ping))[0] === 500) await sleep(20);
  expect(await ask(["GET", "n"])).toEqual(ok(null));
  expect(await ask(call)).toEqual(failed("NOSCRIPT No matching script. Please use EVAL."));
  const counted = [200, [{ result: 1 }, { result: 2 }]];
  expect(await ask([increment, increment], "/multi-exec")).toEqual(counted);
  expect(log).toEqual([expect.stringMatching(/^Redis is unreachable: /), "Redis is reachable again"]);
});

test("the gateway does not start on a port in use, and closes its connections to Redis", async () => {
  const redis = await newRedis();
  const first = await startGateway({ redisUrl: redis.url, token });
  const port = Number(new URL(first.url).port);
  await expect(startGateway({ redisUrl: redis.url, token, port })).rejects.toThrow(/EADDRINUSE/);
  await first.close();
  const direct = await connectRedis(redis.url, () => {});
  const list = async () => String(await direct.send(["CLIENT", "LIST"])).trim();
  while ((await list()).includes("\n")) await sleep(10);
  direct.close();
});

test("a password and a database in the URL are used", async () => {
  const redis = await newRedis();
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
