import { operations } from "../../src/http/operations/index.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { resp } from "../../src/transports/resp.ts";
import type { RetryOptions } from "../../src/transports/retry.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { startGateway } from "../../src/local/index.ts";
import { startNamedRedis, type NamedRedis } from "../support/named-redis.ts";
import { command } from "../support/redis-cluster.ts";
import { asker, expectProblem } from "./served.ts";

let named: NamedRedis;
let logged: unknown[];
const open: { close(): Promise<void> | void }[] = [];
beforeEach(async () => {
  logged = [];
  named = await startNamedRedis();
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const each of open.splice(0)) await each.close();
  await named.stop();
});

function healthOf(transport: Parameters<typeof createApp>[0]["transport"]) {
  const app = createApp({ operations, transport, tokens: [], onError: (report) => void logged.push(report) });
  const ask = asker((request) => app.fetch(request));
  return () => ask("GET", "/health", { as: null });
}
function healthOver(retry?: RetryOptions) {
  const transport = resp({ url: named.url, retry });
  open.push(transport);
  return healthOf(transport);
}
const leadToReplica = async () => {
  await named.failOver();
  named.proxy.leadTo(named.master.port);
};
const commandsOf = async (redis: NamedRedis["master"]) =>
  String(await command(redis, "INFO", "commandstats")).match(/(?<=cmdstat_)\w+:calls=\d+/g) ?? [];

const impatient = { tries: 2, firstWait: 1 };
const ok = { status: 200, body: { status: "ok" } };

test("the health check writes nothing, and costs one command", async () => {
  const health = healthOver();
  expect(await health()).toMatchObject(ok);
  await command(named.master, "CONFIG", "RESETSTAT");
  expect(await health()).toMatchObject(ok);
  const sent = (await commandsOf(named.master)).filter((name) => !/replconf|config|info|ping/.test(name));
  expect(sent).toEqual(["unlink:calls=1"]);
  expect(await command(named.master, "DBSIZE")).toBe(0);
});

test("it follows the name to the new master, while the old one stays as a replica", async () => {
  const health = healthOver();
  await health();
  await named.failOver();
  expect(await health()).toMatchObject(ok);
  expect(await commandsOf(named.replica)).toContainEqual(expect.stringContaining("unlink"));
});

test.each([
  ["the tries are used up", impatient],
  ["its own time is up", undefined],
])("it is 503 at a read-only replica, when %s, and 200 again with a master", async (_, retry) => {
  const health = healthOver(retry);
  await health();
  await leadToReplica();
  const time = new AbortController();
  vi.spyOn(AbortSignal, "timeout").mockReturnValue(time.signal);
  const answer = health();
  if (retry === undefined) {
    // Its time is up when the replica has refused it.
    const refused = async () =>
      String(await command(named.master, "INFO", "errorstats")).includes("READONLY");
    await vi.waitUntil(refused, { timeout: 20_000 });
    time.abort(new DOMException("It took too long.", "TimeoutError"));
  }
  const { instance } = expectProblem(await answer, "redis_not_writable");
  expect(logged).toMatchObject([{ instance, code: "redis_not_writable" }]);
  vi.restoreAllMocks();
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
  const health = healthOf(upstash(gateway, { retry: impatient }));
  expect(await health()).toMatchObject(ok);
  const reader = upstash({ url: gateway.url, token: "read-only" });
  expectProblem(await healthOf(reader)(), "redis_unauthorized");
  await leadToReplica();
  expectProblem(await health(), "redis_not_writable");
  named.proxy.leadTo(named.replica.port);
  expect(await health()).toMatchObject(ok);
});
