// Flows and groups in strict order at their largest arguments.

import { flow, Flows, flows, withFlows } from "../../src/http/flows/index.ts";
import { linked } from "../../src/features/linked/index.ts";
import { deepSweep, type LeasedTask, Queue, sweep } from "../../src/index.ts";
import { payload } from "../report.ts";
import { type Bench, type Case, NAME } from "./bench.ts";

/** Most tasks of a flow, and in front of one task. */
const MOST = 10_000;
const FOLLOWER = "mails";

class FlowBench {
  readonly #bench: Bench;
  readonly #options;
  readonly first: Queue;
  readonly second: Queue;

  constructor(bench: Bench) {
    this.#bench = bench;
    this.#options = { transport: linked(bench.transport), ...bench.clock };
    this.first = new Queue(NAME, this.#options);
    this.second = new Queue(FOLLOWER, this.#options);
  }

  /** Tasks in front of one. */
  inFront(size = MOST - 1, follower = this.first) {
    const refs = Array.from({ length: size }, (_, i) => `t${i}`);
    return flow([
      ...refs.map((ref, i) => ({ ref, queue: this.first, payload: payload(i), resultTtl: "1h" as const })),
      { ref: "last", queue: follower, payload: {}, after: refs },
    ]);
  }

  /** Tasks behind one. */
  behind(queue = this.first, size = MOST - 1) {
    return flow([
      { ref: "first", queue: this.first, payload: {} },
      ...Array.from({ length: size }, (_, i) => ({
        ref: `t${i}`,
        queue,
        payload: payload(i),
        after: "first",
      })),
    ]);
  }

  /** Leases that many tasks, in as many calls as needed. */
  async lease(queue: Queue, count: number): Promise<LeasedTask[]> {
    const tasks: LeasedTask[] = [];
    while (tasks.length < count) {
      const batch = await queue.dequeue({ max: Math.min(1_000, count - tasks.length) });
      if (batch.length === 0) break;
      tasks.push(...batch);
    }
    return tasks;
  }

  async settle(queue: Queue, tasks: readonly LeasedTask[], outcome: "complete" | "reject" = "complete") {
    for (let i = 0; i < tasks.length; i += 1_000) {
      const items = tasks.slice(i, i + 1_000);
      await queue.settle(
        items.map(({ receipt }) =>
          outcome === "complete" ? { receipt, outcome, result: { rows: 7 } } : { receipt, outcome },
        ),
      );
    }
  }

  operator() {
    return new Flows(this.#options);
  }

  sweep() {
    return sweep(this.#options.transport, { budget: "60s", ...this.#bench.clock, also: [flows] });
  }

  async look() {
    const { cursor } = await deepSweep(this.#options.transport, { budget: "10m", ...this.#bench.clock });
    if (cursor !== null) throw new Error("the deep sweep did not finish");
  }
}

/** Calls of the sizes that a caller chooses. */
export const workOnFlows: Record<string, Case> = {
  "flow: work on 10,000 in front of one, 1,000 at a time": async (bench) => {
    const own = new FlowBench(bench);
    await own.inFront();
    return async () => {
      await own.settle(own.first, await own.lease(own.first, MOST));
      await own.settle(own.first, await own.lease(own.first, MOST));
    };
  },
  "flow: work on 10,000 in front of one in another queue, 1,000 at a time": async (bench) => {
    const own = new FlowBench(bench);
    await own.inFront(MOST - 1, own.second);
    return async () => {
      await own.settle(own.first, await own.lease(own.first, MOST));
      await own.settle(own.second, await own.lease(own.second, 1));
    };
  },
  "flow: work on 10,000 behind one": async (bench) => {
    const own = new FlowBench(bench);
    await own.behind();
    return async () => {
      await own.settle(own.first, await own.lease(own.first, 1));
      await own.sweep();
      await own.settle(own.first, await own.lease(own.first, MOST));
    };
  },
  "flow: work on 10,000 behind one in another queue": async (bench) => {
    const own = new FlowBench(bench);
    await own.behind(own.second);
    return async () => {
      await own.settle(own.first, await own.lease(own.first, 1));
      await own.sweep();
      await own.settle(own.second, await own.lease(own.second, MOST));
    };
  },
};

export const flowCases: Record<string, Case> = {
  "flow: add 10,000 in front of one": async (bench) => () => new FlowBench(bench).inFront(),
  "flow: add 10,000 in front of one in another queue": async (bench) => {
    const own = new FlowBench(bench);
    return () => own.inFront(MOST - 1, own.second);
  },
  "flow: add 10,000 behind one": async (bench) => () => new FlowBench(bench).behind(),
  "flow: add 10,000 behind one in another queue": async (bench) => {
    const own = new FlowBench(bench);
    return () => own.behind(own.second);
  },
  "flow: add a chain of 10,000": async (bench) => {
    const { first } = new FlowBench(bench);
    const chain = Array.from({ length: MOST }, (_, i) => ({
      ref: `t${i}`,
      queue: first,
      payload: payload(i),
      after: i === 0 ? [] : `t${i - 1}`,
    }));
    return () => flow(chain);
  },
  "flow: the first of 10,000 fails, then redrive": async (bench) => {
    const own = new FlowBench(bench);
    const { id } = await own.behind();
    return async () => {
      await own.settle(own.first, await own.lease(own.first, 1), "reject");
      await own.sweep();
      await own.operator().redrive(id);
      await own.sweep();
    };
  },
  "flow: get, cancel of 10,000": async (bench) => {
    const own = new FlowBench(bench);
    const { id } = await own.inFront();
    return async () => {
      await own.operator().get(id);
      await own.operator().cancel(id);
      await own.sweep();
    };
  },
  "flow: deep sweep of 10,000": async (bench) => {
    const own = new FlowBench(bench);
    await own.inFront();
    return () => own.look();
  },
  "flow: before() of 10,000": async (bench) => {
    const own = new FlowBench(bench);
    await own.inFront();
    await own.settle(own.first, await own.lease(own.first, MOST - 1));
    const [last] = await withFlows(own.first).dequeue();
    return async () => last?.before();
  },
};
