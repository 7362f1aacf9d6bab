// The two sides of the yardstick. Both have their defaults: of the client, and for how long they keep completed tasks.

import { createRequire } from "node:module";
import { createClient } from "@redis/client";
import { Queue as BullQueue, Worker as BullWorker } from "bullmq";
import { drain, Queue } from "../../src/index.ts";
import { resp } from "../../src/transports/resp.ts";

/** The version of BullMQ. */
export const { version: bullmqVersion } = createRequire(import.meta.url)("bullmq/package.json") as {
  readonly version: string;
};

/** One queue of one side, over connections of its own. */
export interface Side {
  add(payload: object): Promise<unknown>;
  addBulk(payloads: readonly object[]): Promise<unknown>;
  /** Works until so many tasks are completed, and Redis has confirmed it. */
  work(concurrency: number, tasks: number, handler: () => object): Promise<void>;
  close(): Promise<void>;
}

export async function sluice(url: string): Promise<Side> {
  const transport = resp(url);
  const queue = new Queue<object>("yardstick", { transport });
  return {
    add: (payload) => queue.enqueue(payload),
    addBulk: (payloads) => queue.enqueueMany(payloads.map((payload) => ({ payload }))),
    async work(concurrency, tasks, handler) {
      const { completed } = await drain(queue, handler, { concurrency, budget: "5m" });
      if (completed !== tasks) throw new Error(`${completed} of ${tasks} tasks were completed`);
    },
    close: () => transport.close(),
  };
}

export async function bullmq(url: string): Promise<Side> {
  const clients: { destroy(): void }[] = [];
  const connection = () => {
    const client = createClient({ url });
    clients.push(client);
    return client;
  };
  const queue = new BullQueue("yardstick", { connection: connection() });
  await queue.waitUntilReady();
  return {
    add: (payload) => queue.add("test", payload, {}),
    addBulk: (payloads) => queue.addBulk(payloads.map((data) => ({ name: "test", data, opts: {} }))),
    async work(concurrency, tasks, handler) {
      const worker = new BullWorker("yardstick", async () => handler(), {
        connection: connection(),
        concurrency,
        autorun: false,
      });
      await worker.waitUntilReady();
      let left = tasks;
      const done = new Promise<void>((resolve) => worker.on("completed", () => --left === 0 && resolve()));
      const running = worker.run();
      await done;
      await worker.close();
      await running;
    },
    async close() {
      await queue.close();
      for (const client of clients) client.destroy();
    },
  };
}
