import { describe, expect, it } from "vitest";
import { cloudflareQueue } from "../../src/adapters/cloudflare-queue.ts";
import { sqs } from "../../src/adapters/sqs.ts";
import { drain, drainBatches, Queue, RetryAfter } from "../../src/index.ts";
import { many, named } from "../support/new-tasks.ts";
import { QUEUE, START, useRig } from "../support/rig.ts";
import { noting, reported, thrower } from "./draining.ts";

// A handler that throws `new RetryAfter(delay, { queue: true })` pauses the queue.

const rig = useRig();
const MINUTE = 60_000;
const UNTIL = START + MINUTE;
const busy = () => new RetryAfter("1m", { queue: true });
const PAUSED = { paused: true, pausedUntil: UNTIL };
const RUNNING = { paused: false, pausedUntil: null };

describe("a handler that asks for a pause of the queue", () => {
  it("requeues its task, pauses the queue for the delay in the same request, and ends the drain", async () => {
    const { transport, sent } = noting(rig.transport);
    const queue = rig.queue({ transport });
    await queue.enqueueMany(named(["a", "b", "c"]));
    sent.length = 0;
    const report = await drain(queue, thrower(busy()), { concurrency: 1, batch: 1 });
    expect(report).toEqual(reported({ requeued: 1, ended: "paused", nextDueAt: UNTIL }));
    expect(sent.at(-1)).toEqual(["pause", "settle"]);
    expect(sent.flat().filter((name) => name.includes("dequeue")).length).toBe(1);
    expect(await queue.counts()).toMatchObject({ pending: 2, delayed: 1, nextDueAt: UNTIL, ...PAUSED });
    expect(await drain(queue, thrower(busy()))).toEqual(reported({ ended: "paused", nextDueAt: UNTIL }));
    rig.now = UNTIL;
    expect(await drain(queue, () => "sent")).toEqual(reported({ completed: 3 }));
    expect(await queue.counts()).toMatchObject(RUNNING);
  });

  it("lets other handlers end, and hands back what none has begun", async () => {
    const queue = rig.queue<number>();
    await queue.enqueueMany(many(6));
    const report = await drain(
      queue,
      async ({ payload }) => {
        if (payload === 0) throw busy();
        await new Promise((resolve) => setImmediate(resolve));
      },
      { concurrency: 3, batch: 6 },
    );
    const counted = { completed: 2, requeued: 1, handedBack: 3, ended: "paused", nextDueAt: UNTIL } as const;
    expect(report).toEqual(reported(counted));
    expect(await queue.counts()).toMatchObject({ pending: 3, delayed: 1, ...PAUSED });
  });

  it("is paused for the longest of several delays", async () => {
    const queue = rig.queue<number>();
    await queue.enqueueMany(many(3));
    const handler = ({ payload }: { payload: number }) => {
      throw new RetryAfter(`${payload + 1}m`, { queue: true });
    };
    await drain(queue, handler, { concurrency: 3, batch: 3 });
    expect(await queue.counts()).toMatchObject({ delayed: 3, pausedUntil: START + 3 * MINUTE });
  });

  it("pauses it also if its task becomes a dead letter, but not without a delay", async () => {
    const queue = rig.queue({ maxAttempts: 1 });
    await queue.enqueueMany(named(["a"]));
    const dead = { rejected: 1, ended: "paused", nextDueAt: null } as const;
    expect(await drain(queue, thrower(busy()))).toEqual(reported(dead));
    expect(await queue.counts()).toMatchObject({ rejected: 1, ...PAUSED });
    await rig.operator().resume();
    await queue.enqueueMany(named(["b"]));
    await drain(queue, thrower(new RetryAfter(0, { queue: true })));
    expect(await queue.counts()).toMatchObject({ rejected: 2, ...RUNNING });
  });

  it("leaves the attempt uncharged if asked to, and keeps the cause", async () => {
    const queue = rig.queue();
    await queue.enqueue(1, { id: "a" });
    const cause = new Error("429 Too Many Requests");
    await drain(queue, thrower(new RetryAfter("1m", { queue: true, count: false, cause })));
    expect(await queue.get("a")).toMatchObject({
      state: "delayed",
      charged: 0,
      error: { message: "429 Too Many Requests" },
    });
    expect(await queue.counts()).toMatchObject(PAUSED);
  });

  it("does so with an error of another copy of the library", async () => {
    const queue = rig.queue();
    await queue.enqueue(1);
    const other = Object.assign(new Error("busy"), {
      name: "RetryAfter",
      delay: MINUTE,
      count: true,
      queue: true,
    });
    await drain(queue, thrower(other));
    expect(await queue.counts()).toMatchObject({ delayed: 1, ...PAUSED });
  });

  it("never shortens a pause: neither one that lasts until it is resumed, nor a longer one", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b"]));
    const [a, b] = await queue.dequeue({ max: 2 });
    await rig.operator().pause();
    await a?.requeue({ delay: "1m", queue: true });
    expect(await queue.counts()).toMatchObject({ paused: true, pausedUntil: null });
    await rig.operator().resume();
    await rig.operator().pause({ for: "1h" });
    await b?.requeue({ delay: "1m", queue: true });
    expect(await queue.counts()).toMatchObject({ paused: true, pausedUntil: START + 60 * MINUTE });
  });

  it("pauses all partitions of its queue", async () => {
    const queue = new Queue(QUEUE, { transport: rig.transport, now: () => rig.now, partitions: 3 });
    await queue.enqueueMany(many(30));
    const report = await drain(queue, thrower(busy()), { concurrency: 1, batch: 1 });
    expect(report).toEqual(reported({ requeued: 1, ended: "paused", nextDueAt: UNTIL }));
    expect(await queue.counts()).toMatchObject({ pending: 29, delayed: 1, ...PAUSED });
    expect((await queue.dequeue({ max: 30 })).length).toBe(0);
    rig.now = UNTIL;
    expect((await drain(queue, () => "sent")).completed).toBe(30);
  });

  it.each([
    ["sqs", () => sqs(() => Promise.reject(busy()), { queue: QUEUE })],
    ["cloudflareQueue", () => cloudflareQueue(() => Promise.reject(busy()), { queue: QUEUE })],
  ] as const)("does so through %s", async (_name, adapted) => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b", "c"]));
    const report = await drainBatches(queue, adapted(), { batch: 2 });
    expect(report).toEqual(reported({ requeued: 2, ended: "paused", nextDueAt: UNTIL }));
    expect(await queue.counts()).toMatchObject({ pending: 1, delayed: 2, ...PAUSED });
  });
});

describe("a requeue that pauses the queue", () => {
  it("is possible beside a dequeue, which then gets nothing", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a", "b"]));
    const [task] = await queue.dequeue();
    const { settled, tasks } = await queue.settleAndDequeue([
      { receipt: task?.receipt ?? "", outcome: "requeue", delay: "1m", queue: true },
    ]);
    expect(settled).toMatchObject([{ ok: true, state: "delayed", dueAt: UNTIL }]);
    expect([tasks.length, tasks.paused, tasks.nextDueAt]).toEqual([0, true, UNTIL]);
  });

  it("pauses it again, at most for the delay from then, as its second copy (law 5)", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a"]));
    const [task] = await queue.dequeue();
    const settle = () => task?.requeue({ delay: "1m", queue: true });
    const first = await settle();
    rig.now += 1_000;
    expect(await settle()).toEqual(first);
    expect(await queue.counts()).toMatchObject({ delayed: 1, paused: true, pausedUntil: UNTIL + 1_000 });
  });

  it("is refused unstarted, and with an option that is none", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(named(["a"]));
    const [task] = await queue.dequeue();
    await expect(task?.requeue({ unstarted: true, queue: true })).rejects.toThrow(
      /^unstarted must not be given/,
    );
    await expect(task?.requeue({ queue: "yes" as never })).rejects.toThrow(/^queue must be true or false/);
    expect(() => new RetryAfter("1m", { queue: 1 as never })).toThrow(/^queue must be true or false/);
    expect(await queue.counts()).toMatchObject({ working: 1, ...RUNNING });
  });
});
