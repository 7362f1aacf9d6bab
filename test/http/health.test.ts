import { afterEach, beforeEach, expect, test } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { resp } from "../../src/transport/resp.ts";
import type { RetryOptions } from "../../src/transport/retry.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { startGateway } from "../../src/local/index.ts";
import { startNamedRedis, type NamedRedis } from "../support/named-redis.ts";
import { command } from "../support/redis-cluster.ts";
import { asker, expectProblem } from "./served.ts";

let named: NamedRedis;
const open: { close(): Promise<void> | void }[] = [];
beforeEach(async () => {
  named = await startNamedRedis();
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
  await named.stop();
});

function healthOver(retry?: RetryOptions) {
  const transport = resp({ url: named.url, retry });
  open.push(transport);
  return healthOf(transport);
}

const logged: unknown[] = [];
beforeEach(() => void logged.splice(0));
function healthOf(transport: Parameters<typeof createApp>[0]["transport"]) {
  const app = createApp({ transport, tokens: [], onError: (report) => void logged.push(report) });
  const ask = asker((request) => app.fetch(request));
  return () => ask("GET", "/health", { as: null });
}

const impatient = { tries: 2, firstWait: 1 };
const ok = { status: 200, body: { status: "ok" } };

test("the health check writes nothing, and costs one command", async () => {
  const health = healthOver();
  expect(await health()).toMatchObject(ok);
  await command(named.master, "CONFIG", "RESETSTAT");
  expect(await health()).toMatchObject(ok);
  const stats = String(await command(named.master, "INFO", "commandstats"));
  expect(
    stats.match(/(?<=cmdstat_)\w+:calls=\d+/g)?.filter((name) => !/replconf|config|info|ping/.test(name)),
  ).toEqual(["unlink:calls=1"]);
  expect(await command(named.master, "DBSIZE")).toBe(0);
});

test("it follows the name to the new master, while the old one stays as a replica", async () => {
  const health = healthOver();
  await health();
  await named.failOver();
  expect(await health()).toMatchObject(ok);
  expect(await command(named.replica, "INFO", "commandstats")).toContain("cmdstat_unlink");
});

test.each([
  ["the tries are used up", impatient],
  ["its own time is up", {}],
])("it is 503 at a read-only replica, when %s, and 200 again with a master", async (_, retry) => {
  const health = healthOver(retry);
  await health();
  await named.failOver();
  named.proxy.leadTo(named.master.port);
  const { instance } = expectProblem(await health(), "redis_not_writable");
  expect(logged).toMatchObject([{ instance, code: "redis_not_writable" }]);
  named.proxy.leadTo(named.replica.port);
  expect(await health()).toMatchObject(ok);
});

test("it is 503 at a master with too few replicas", async () => {
  const health = healthOver(impatient);
  await command(named.master, "CONFIG", "SET", "min-replicas-to-write", "2");
  expectProblem(await health(), "redis_not_writable");
  await command(named.master, "CONFIG", "SET", "min-replicas-to-write", "0");
  expect(await health()).toMatchObject(ok);
});

test("over HTTP it is 503 at a read-only replica, and 502 with a token that may only read", async () => {
  const gateway = await startGateway({ redisUrl: named.url, readOnlyToken: "read-only" });
  open.push(gateway);
  expect(await healthOf(upstash(gateway, { retry: impatient }))()).toMatchObject(ok);
  const reader = upstash({ url: gateway.url, token: "read-only" });
  expectProblem(await healthOf(reader)(), "redis_unauthorized");
  await named.failOver();
  named.proxy.leadTo(named.master.port);
  expectProblem(await healthOf(upstash(gateway, { retry: impatient }))(), "redis_not_writable");
  named.proxy.leadTo(named.replica.port);
  expect(await healthOf(upstash(gateway))()).toMatchObject(ok);
});
