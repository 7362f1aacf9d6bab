import { createClient } from "@redis/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../src/index.ts";
import { key, START, useRig } from "../support/rig.ts";
import { numbered } from "../support/new-tasks.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const CHANNEL = key("events");

let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** Subscribes directly to Redis. The returned function returns the messages since its last call. */
async function listen(): Promise<() => Promise<string[]>> {
  const client = createClient({ url: rig.redis.url, RESP: 2 });
  await client.connect();
  stop = () => client.destroy();
  let heard: string[] = [];
  let ended = () => {};
  await client.subscribe(CHANNEL, (message) => (message === "end" ? ended() : heard.push(message)));
  return async () => {
    const end = new Promise<void>((resolve) => (ended = resolve));
    await rig.command("PUBLISH", CHANNEL, "end");
    await end;
    const messages = heard;
    heard = [];
    return messages;
  };
}

/** Lines of tasks whose first attempt has ended, without a value. */
const lines = (count: number, reason = "") => `\n1 0 ${reason} `.repeat(count);

describe("a queue's events", () => {
  test("are published only with the setting, and not for a refused call", async () => {
    const published = await listen();
    const operator = rig.operator();
    await operator.configure({ statistics: true, maxPending: 100 });
    await queue.enqueueMany(numbered(4, { lease: 1_000 }));
    const [a, b, c] = await queue.dequeue({ max: 10 });
    await a?.complete();
    await b?.requeue();
    await c?.reject();
    rig.now += 1_000;
    await rig.sweepOnce();
    await queue.cancel("t1");
    await operator.configure({ events: true, maxPending: 1 });
    await expect(queue.enqueueMany(numbered(2, {}, "x"))).rejects.toMatchObject({ code: "queue_full" });
    await operator.configure({ events: false });
    await operator.deleteQueue({ force: true });
    expect(await published()).toEqual([]);
  });

  test("are one message for each kind in a call, with all its tasks", async () => {
    await rig.operator().configure({ events: true });
    await queue.enqueueMany(numbered(6, { maxAttempts: 1 }));
    const tasks = await queue.dequeue({ max: 6, lease: 1_000 });
    await queue.cancel("t5");
    const published = await listen();
    const outcomes = ["complete", "complete", "reject", "reject"] as const;
    await queue.settle(outcomes.map((outcome, i) => ({ receipt: tasks[i]?.receipt ?? "", outcome })));
    expect((await published()).toSorted()).toEqual([
      `completed ${START} t0 t1${lines(2)}`,
      `rejected ${START} t2 t3${lines(2, "rejected")}`,
    ]);
    // A lease that expires on the last attempt is reported as reclaimed and as rejected.
    rig.now += 1_000;
    await rig.sweepOnce();
    expect((await published()).toSorted()).toEqual([
      `cancelled ${rig.now} t5`,
      `reclaimed ${rig.now} t4 t5${lines(2)}`,
      `rejected ${rig.now} t4${lines(1, "lease_expired")}`,
    ]);
  });

  test("name every task once, in batches of any size, also with groups and limits", async () => {
    const published = await listen();
    await rig.operator().configure({ events: true, statistics: true, maxWorking: 300 });
    await rig.operator().configureGroup("a", { maxWorking: 50 });
    const ids: string[] = [];
    for (const tasks of [numbered(1_000), numbered(500, { group: "a" }, "a")]) {
      ids.push(...(await queue.enqueueMany(tasks)).map(({ id }) => id));
    }
    let done = 0;
    for (let call = 0; call < 100 && done < 1_500; call++) {
      const batch = await queue.dequeue({ max: 1_000 });
      await queue.settle(batch.map(({ receipt }) => ({ receipt, outcome: "complete" })));
      done += batch.length;
    }
    const reported: Record<string, string[]> = {};
    for (const message of await published()) {
      const [event = "", at, ...some] = message.replace(/\n.*/s, "").split(" ");
      expect([Number(at), some.length]).toEqual([START, Math.min(some.length, 1_000)]);
      (reported[event] ??= []).push(...some);
    }
    expect(Object.keys(reported).toSorted()).toEqual(["completed", "dequeued", "enqueued"]);
    for (const some of Object.values(reported)) expect(some.toSorted()).toEqual(ids.toSorted());
  });

  test("are also published on a full Redis", async () => {
    await rig.operator().configure({ events: true });
    await queue.enqueueMany(numbered(2));
    const published = await listen();
    await rig.command("CONFIG", "SET", "maxmemory", "1");
    try {
      const [task] = await queue.dequeue();
      await expect(queue.enqueue(1)).rejects.toMatchObject({ code: "queue_full" });
      expect(await task?.complete()).toMatchObject({ ok: true });
    } finally {
      await rig.command("CONFIG", "SET", "maxmemory", "0");
    }
    expect(await published()).toEqual([`dequeued ${START} t0`, `completed ${START} t0${lines(1)}`]);
  });
});
