// The contestants of the throughput bench. Each does the same: enqueue all tasks from many callers, then work
// and complete all of them, so that neither side ever waits for a task. Both keep a completed task's record
// for an hour.

import { createClient } from "@redis/client";
import { Queue as BullQueue, Worker as BullWorker } from "bullmq";
import {
  drain as drainQueue,
  Queue,
  type QueueOptions,
  type Settlement,
  type Transport,
} from "../src/index.ts";
import { payload } from "./report.ts";

export const CALLERS = 50;
export const BATCH = 100;

/** What a round's two halves are to be measured with. */
export type Measure = (half: () => Promise<void>) => Promise<void>;

/** Takes that many tasks through the whole cycle: calls `measure` with the enqueueing, then with the rest. */
export type Contestant = (tasks: number, measure: Measure) => Promise<void>;

/** Runs loops side by side, each until it returns false. */
async function callers(loop: () => Promise<boolean>): Promise<void> {
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (await loop());
    }),
  );
}

/**
 * Deals the numbers 0 to `tasks` to any number of callers: each call returns the next few, at the end none.
 */
function numbering(tasks: number, size: number): () => number[] {
  let next = 0;
  return () => Array.from({ length: Math.min(size, tasks - next) }, () => next++);
}

function completed(batch: readonly { readonly receipt: string }[]): Settlement[] {
  return batch.map(({ receipt }) => ({ receipt, outcome: "complete" }));
}

/** @param options of the queue, such as how its calls share requests */
export function sluice(transport: Transport, options: Partial<QueueOptions> = {}) {
  const queue = new Queue("bench", { ...options, transport });

  async function enqueueSingly(tasks: number, measure: Measure) {
    const next = numbering(tasks, 1);
    await measure(() =>
      callers(async () => {
        const [number] = next();
        if (number !== undefined) await queue.enqueue(payload(number));
        return number !== undefined;
      }),
    );
  }

  async function enqueueBatches(tasks: number, measure: Measure) {
    const next = numbering(tasks, BATCH);
    await measure(() =>
      callers(async () => {
        const numbers = next();
        await queue.enqueueMany(numbers.map((number) => ({ payload: payload(number) })));
        return numbers.length > 0;
      }),
    );
  }

  const singly: Contestant = async (tasks, measure) => {
    await enqueueSingly(tasks, measure);
    await measure(() =>
      callers(async () => {
        const [task] = await queue.dequeue();
        if (task) await task.complete();
        return task !== undefined;
      }),
    );
  };

  /** Completing a task and asking for the next are one request, as BullMQ's worker does it too. */
  const together: Contestant = async (tasks, measure) => {
    await enqueueSingly(tasks, measure);
    await measure(async () => {
      const worker = async () => {
        let batch = await queue.dequeue();
        while (batch.length > 0) batch = (await queue.settleAndDequeue(completed(batch))).tasks;
      };
      await Promise.all(Array.from({ length: CALLERS }, worker));
    });
  };

  const batches: Contestant = async (tasks, measure) => {
    await enqueueBatches(tasks, measure);
    await measure(() =>
      callers(async () => {
        const batch = await queue.dequeue({ max: BATCH });
        await queue.settle(completed(batch));
        return batch.length > 0;
      }),
    );
  };

  const drain: Contestant = async (tasks, measure) => {
    await enqueueBatches(tasks, measure);
    await measure(async () => {
      await drainQueue(queue, () => undefined, { concurrency: CALLERS, budget: "5m" });
    });
  };

  return { singly, together, batches, drain };
}

/**
 * BullMQ over the same Redis client, which it supports beside ioredis. Its worker completes a task and
 * fetches the next in one script; its only batch call is `addBulk`.
 */
export function bullmq(redisUrl: string) {
  const contestant =
    (
      concurrency: number,
      size: number,
      add: (queue: BullQueue, numbers: readonly number[]) => Promise<unknown>,
    ): Contestant =>
    async (tasks, measure) => {
      const clients = [createClient({ url: redisUrl }), createClient({ url: redisUrl })] as const;
      const queue = new BullQueue("bench", {
        connection: clients[0],
        defaultJobOptions: { removeOnComplete: { age: 3_600 } },
      });
      const worker = new BullWorker("bench", async () => {}, {
        connection: clients[1],
        concurrency,
        autorun: false,
      });
      await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()]);

      const next = numbering(tasks, size);
      await measure(() =>
        callers(async () => {
          const numbers = next();
          if (numbers.length > 0) await add(queue, numbers);
          return numbers.length > 0;
        }),
      );
      let left = tasks;
      const done = new Promise<void>((resolve) => worker.on("completed", () => --left === 0 && resolve()));
      let running = Promise.resolve();
      await measure(async () => {
        running = worker.run();
        await done;
      });
      await worker.close();
      await running;
      await queue.close();
      for (const client of clients) client.destroy();
    };

  const addBulk = (queue: BullQueue, numbers: readonly number[]) =>
    queue.addBulk(numbers.map((number) => ({ name: "bench", data: payload(number) })));
  return {
    singly: contestant(CALLERS, 1, (queue, [number = 0]) => queue.add("bench", payload(number))),
    batches: contestant(BATCH, BATCH, addBulk),
    /** Works on as many tasks at once as a drain. */
    worker: contestant(CALLERS, BATCH, addBulk),
  };
}
