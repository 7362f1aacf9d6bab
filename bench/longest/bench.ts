// What the cases of bench/longest work with.

import {
  deepSweep,
  Operator,
  Queue,
  sweep,
  type LeasedTask,
  type NewTask,
  type QueueOptions,
  type Transport,
} from "../../src/index.ts";
import { payload } from "../report.ts";

export const NAME = "bench";
export const HEADERS = {
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tenant: "acme",
};
export const worker = { name: "worker", incarnation: "1", silentAfter: 60_000 };

/** What a case works with. The clock moves only if the case moves it. */
export class Bench {
  now = Date.now();
  readonly transport: Transport;
  /** How many tasks a large queue has. */
  readonly size: number;

  constructor(transport: Transport, size: number) {
    this.transport = transport;
    this.size = size;
  }

  get clock() {
    return { now: () => this.now };
  }

  queue(options: Partial<QueueOptions> = {}): Queue {
    return new Queue(NAME, { transport: this.transport, ...this.clock, ...options });
  }

  operator(): Operator {
    return new Operator(NAME, { transport: this.transport, ...this.clock });
  }

  /** Tasks t0, t1, …, with headers; `kind` says what is special about each. */
  async fill(count: number, kind: (i: number) => Partial<NewTask<unknown>> = () => ({}), first = 0) {
    for (let from = first; from < first + count; from += 1_000) {
      const size = Math.min(1_000, first + count - from);
      const tasks = Array.from({ length: size }, (_, j) => ({
        id: `t${from + j}`,
        payload: payload(from + j),
        headers: HEADERS,
        ...kind(from + j),
      }));
      await this.queue().enqueueMany(tasks);
    }
  }

  /** Leases that many tasks, in as many calls as needed: one call leases few tasks of groups. */
  async lease(count: number, options: { lease?: number; worker?: typeof worker } = {}) {
    const tasks: LeasedTask[] = [];
    while (tasks.length < count) {
      const batch = await this.queue().dequeue({ max: Math.min(1_000, count - tasks.length), ...options });
      if (batch.length === 0) break;
      tasks.push(...batch);
    }
    return tasks;
  }

  async settle(tasks: readonly LeasedTask[], outcome: "complete" | "reject" | "requeue") {
    for (let i = 0; i < tasks.length; i += 1_000) {
      const items = tasks.slice(i, i + 1_000).map(({ receipt }) => ({ receipt, outcome }) as const);
      await this.queue().settle(items);
    }
  }

  /** Leases and requeues `count` tasks so many times: that gives them a history, and an error to keep. */
  async age(count: number, times: number) {
    for (let i = 0; i < times; i++) {
      const tasks = await this.lease(count);
      const items = tasks.map(({ receipt }) => ({
        receipt,
        outcome: "requeue" as const,
        count: false,
        error: { name: "Error", message: "the receiver answered 503 Service Unavailable" },
      }));
      for (let j = 0; j < items.length; j += 1_000) await this.queue().settle(items.slice(j, j + 1_000));
    }
  }

  sweep(limit = 1_000) {
    return sweep(this.transport, { limit, budget: "60s", ...this.clock });
  }

  async look() {
    const { cursor } = await deepSweep(this.transport, { budget: "10m", ...this.clock });
    if (cursor !== null) throw new Error("the deep sweep did not finish");
  }

  command(...args: string[]) {
    return this.transport.send([args as [string, ...string[]]]);
  }
}

/** Prepares a queue; what it returns is measured. */
export type Case = (bench: Bench) => Promise<() => Promise<unknown>>;

export const group = (i: number) => ({ group: `g${i % 20}` });
export const oneGroup = () => ({ group: "g" });
export const priority = (i: number) => ({ group: `g${i % 20}`, priority: i % 10 });

export async function deadLetters(bench: Bench, kind?: (i: number) => Partial<NewTask<unknown>>) {
  await bench.fill(2_000, kind);
  await bench.settle(await bench.lease(2_000), "reject");
}

export async function working(bench: Bench, kind?: (i: number) => Partial<NewTask<unknown>>) {
  await bench.fill(1_000, kind);
  return bench.lease(1_000, { lease: 30_000, worker });
}
