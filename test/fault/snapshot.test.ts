import { describe, expect, onTestFinished, test } from "vitest";
import { Operator, Queue, Schedules } from "../../src/index.ts";
import { resp } from "../../src/transport/resp.ts";
import { violations } from "../support/invariants.ts";
import { queueSpace, readKeySpace } from "../support/key-space.ts";
import { startRedis } from "../support/redis.ts";

/** A Redis that keeps only the snapshots that a test takes, and a queue that was used in every way. */
async function usedQueue() {
  const redis = await startRedis();
  const transport = resp(redis.url);
  onTestFinished(async () => {
    await transport.close();
    await redis.stop();
  });
  const options = { transport };
  const queue = new Queue("emails", options);
  const operator = new Operator("emails", options);
  await operator.configure({ statistics: true, rate: { most: 1_000, per: "1m" } });
  await operator.configureGroup("capped", { maxWorking: 1 });
  await new Schedules("emails", options).put("daily", { cron: "0 9 * * *", payload: 1 });
  await queue.enqueueMany([
    ...Array.from({ length: 20 }, (_, i) => ({ id: `t${i}`, payload: i })),
    ...Array.from({ length: 4 }, (_, i) => ({ id: `g${i}`, payload: i, group: "capped" })),
    { id: "delayed", payload: 1, delay: "1h" },
    { id: "once", payload: 1, dedup: { key: "k", window: "1h" } },
  ]);
  const held = await queue.dequeue({ max: 8, worker: { name: "w", silentAfter: "1h" } });
  await held[0]?.complete("done");
  await held[1]?.reject("no");
  await queue.cancel("t19");
  return { redis, transport, queue, held };
}

describe("what a Redis keeps", () => {
  test("by snapshots alone is the queue of one moment: valid, without what was acknowledged later", async () => {
    const { redis, transport, queue, held } = await usedQueue();
    await transport.send([["SAVE"]]);
    const then = await readKeySpace(redis.url);
    expect(await held[2]?.complete("after the snapshot")).toMatchObject({ ok: true });
    await queue.enqueue(1, { id: "after" });

    await redis.kill();
    await redis.restart();

    expect(await readKeySpace(redis.url)).toEqual(then);
    expect(violations(queueSpace(then, "emails"))).toEqual([]);
    expect(await queue.get("after")).toBeNull();
    expect(await queue.get(held[2]?.id ?? "")).toMatchObject({ state: "working" });
    // Its last holder may settle it again.
    expect(await held[2]?.complete("after the snapshot")).toMatchObject({ ok: true });
    expect(await queue.get(held[2]?.id ?? "")).toMatchObject({ state: "completed" });
  });

  test("under an eviction of keys with a time to live is everything except the memory of operators' calls", async () => {
    const { redis, transport } = await usedQueue();
    const keys = Object.keys(await readKeySpace(redis.url));
    const times = await transport.send(keys.map((key) => ["PTTL", key]));
    const mortal = keys.filter((_, at) => {
      const reported = times[at];
      return reported && "reply" in reported && reported.reply !== -1;
    });
    expect(mortal).toEqual(["sluice:{emails}:operator-calls"]);
    expect(keys.length).toBeGreaterThan(12);
  });
});
