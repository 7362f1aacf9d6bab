import { readFile, stat, truncate } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { deepSweep, Operator, Queue, Schedules } from "../../../src/index.ts";
import { resp } from "../../../src/transports/resp.ts";
import { appendOnlyFiles } from "../../support/append-only-files.ts";
import { violations } from "../../support/invariants.ts";
import { queueSpace, readKeySpace } from "../../support/key-space.ts";
import { numbered } from "../../support/new-tasks.ts";
import { command } from "../../support/redis-cluster.ts";
import { startRedis } from "../../support/redis.ts";

// What a Redis comes back with, without a load. Under load: test/long.

const APPEND_ONLY = ["--appendonly", "yes", "--appendfsync", "always"];

async function started(...args: string[]) {
  const redis = await startRedis({ args });
  const transport = resp(redis.url);
  onTestFinished(async () => {
    await transport.close();
    await redis.stop();
  });
  return { redis, transport, queue: new Queue("emails", { transport }) };
}

type Started = Awaited<ReturnType<typeof started>>;

/** A queue that was used in every way. Returns the tasks that are working. */
async function use({ transport, queue }: Started) {
  const options = { transport };
  const operator = new Operator("emails", options);
  await operator.configure({ statistics: true, rate: { most: 1_000, per: "1m" } });
  await operator.configureGroup("capped", { maxWorking: 1 });
  await new Schedules("emails", options).put("daily", { cron: "0 9 * * *", payload: 1 });
  await queue.enqueueMany([
    ...numbered(20),
    ...numbered(4, { group: "capped" }, "g"),
    { id: "delayed", payload: 1, delay: "1h" },
    { id: "once", payload: 1, dedup: { key: "k", window: "1h" } },
  ]);
  const held = await queue.dequeue({ max: 8, worker: { name: "w", silentAfter: "1h" } });
  await held[0]?.complete("done");
  await held[1]?.reject("no");
  await queue.cancel("t19");
  return held.slice(2);
}

/** That the queue is valid, and a deep sweep finds nothing to repair. */
async function expectSound({ redis, transport }: Started): Promise<void> {
  expect(violations(queueSpace(await readKeySpace(redis.url), "emails"))).toEqual([]);
  expect(await deepSweep(transport, { queue: "emails" })).toMatchObject({ faults: [], failed: [] });
}

const fileOf = ({ redis }: Started) => appendOnlyFiles(redis.folder).at(-1) as string;

async function restart({ redis }: Started): Promise<void> {
  await redis.kill();
  await redis.restart();
}

test("by snapshots alone is the queue of one moment: valid, without what was acknowledged later", async () => {
  const one = await started();
  const [held] = await use(one);
  await command(one.redis, "SAVE");
  const then = await readKeySpace(one.redis.url);
  expect(await held?.complete("after the snapshot")).toMatchObject({ ok: true });
  await one.queue.enqueue(1, { id: "after" });
  await restart(one);
  expect(await readKeySpace(one.redis.url)).toEqual(then);
  await expectSound(one);
  expect(await one.queue.get("after")).toBeNull();
  // Its last holder may settle it again.
  expect(await held?.complete("after the snapshot")).toMatchObject({ ok: true });
  expect(await one.queue.get(held?.id ?? "")).toMatchObject({ state: "completed" });
});

test("under an eviction of keys with a time to live is everything except the memory of operators' calls", async () => {
  const one = await started();
  await use(one);
  const keys = Object.keys(await readKeySpace(one.redis.url));
  const times = await one.transport.send(keys.map((key) => ["PTTL", key]));
  const mortal = keys.filter((_, at) => !("reply" in times[at]! && times[at].reply === -1));
  expect(mortal).toEqual(["sluice:{emails}:operator-calls"]);
  expect(keys.length).toBeGreaterThan(12);
});

test("by an append-only file, synced always, is all that was acknowledged; a file that ends at any byte holds a valid queue, with nothing to repair", async () => {
  const one = await started(...APPEND_ONLY);
  await use(one);
  const then = await readKeySpace(one.redis.url);
  await restart(one);
  expect(await readKeySpace(one.redis.url)).toEqual(then);
  await one.redis.kill();
  const { size } = await stat(fileOf(one));
  for (const part of [0.99, 0.9, 0.75, 0.6, 0.45, 0.3]) {
    await truncate(fileOf(one), Math.floor(part * size));
    await one.redis.restart();
    await expectSound(one);
    await one.redis.kill();
  }
});

describe("half of a script's writes, which a power cut left in the file,", () => {
  const grouped = (id: string) => ({ id, payload: 1, group: "a" });
  async function cut() {
    const one = await started(...APPEND_ONLY);
    await one.queue.enqueueMany([grouped("before")]);
    await one.queue.enqueueMany(["x", "y"].map(grouped));
    await one.redis.kill();
    await truncate(fileOf(one), (await readFile(fileOf(one))).lastIndexOf("ZADD") + 2);
    await one.redis.restart();
    await expectSound(one);
    expect(await ids(one)).toEqual(["before"]);
    return one;
  }
  const ids = async ({ redis }: Started) => {
    const { tasks } = queueSpace(await readKeySpace(redis.url), "emails");
    return [...tasks.keys()].filter((field) => /^\w/.test(field)).toSorted();
  };

  test("comes back at the start after the next, and a deep sweep repairs that", async () => {
    const one = await cut();
    await one.queue.enqueueMany([grouped("after")]);
    await restart(one);
    // What comes back, if anything, depends on the release of Redis.
    await deepSweep(one.transport, { queue: "emails" });
    await expectSound(one);
    expect(await ids(one)).toEqual(expect.arrayContaining(["before", "after"]));
  });

  test("does not come back if the file was rewritten", async () => {
    const one = await cut();
    const file = fileOf(one);
    await command(one.redis, "BGREWRITEAOF");
    const isDone = async () => String(await command(one.redis, "INFO", "persistence"));
    while (fileOf(one) === file || !/^aof_rewrite_in_progress:0\r$/m.test(await isDone())) await sleep(5);
    await one.queue.enqueueMany([grouped("after")]);
    await restart(one);
    expect(await ids(one)).toEqual(["after", "before"]);
    await expectSound(one);
  });
});

test("a consumer whose lease the new primary does not know gets lease_lost, also if another has its number (I2)", async () => {
  const old = await started("--repl-diskless-sync-delay", "0");
  const next = await started("--replicaof", "127.0.0.1", String(old.redis.port));
  while (!/^master_link_status:up\r$/m.test(String(await command(next.redis, "INFO", "replication"))))
    await sleep(10);
  await old.queue.enqueueMany(numbered(5));
  // WAIT waits for what was written before the last command of its own connection.
  await command(old.redis, "PING");
  expect(await command(old.redis, "WAIT", "1", "20000")).toBe(1);
  await command(next.redis, "REPLICAOF", "NO", "ONE");
  // What the old primary still did is lost.
  const before = await old.queue.dequeue({ max: 5 });
  expect(await before[0]?.complete("first")).toMatchObject({ ok: true });
  await old.redis.kill();

  const settle = () =>
    next.queue.settle(before.map(({ receipt }) => ({ receipt, outcome: "complete", result: "late" })));
  const lost = before.map(({ receipt }) => ({ receipt, ok: false, code: "lease_lost" }));
  expect(await settle()).toEqual(lost);
  const after = await next.queue.dequeue({ max: 5 });
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  const number = ({ receipt }: { receipt: string }) => receipt.split(".")[2];
  expect(after.map(number)).toEqual(before.map(number));
  expect(await settle()).toEqual(lost);
  for (const task of after) expect(await task.complete("second")).toMatchObject({ ok: true });
  expect(await settle()).toEqual(lost);
  await expectSound(next);
  expect(await next.queue.get("t0")).toMatchObject({ state: "completed", result: "second" });
});
