/** Producers, consumers and a sweep on queues of all nodes of a cluster, and a record of all acknowledgements. */
import { setTimeout as sleep } from "node:timers/promises";
import { Queue, sweep, type Transport } from "../../src/index.ts";

/** Queues whose slots are spread over the masters. */
export const QUEUES = Array.from({ length: 6 }, (_, i) => `load-${i}`);

/** How long a delayed task waits, ms. */
const DELAY = 20;

export class ClusterLoad {
  /** Ids of acknowledged enqueues, by queue. */
  readonly #enqueued = new Map(QUEUES.map((name) => [name, new Set<string>()]));
  /** Receipts whose completion was acknowledged, by queue and id. */
  readonly #completed = new Map<string, Set<string>>();
  /** Receipts that were delivered, by queue and id. */
  readonly #delivered = new Map<string, Set<string>>();
  readonly #transport: Transport;
  readonly #run = { over: false };
  #all: Promise<unknown> | undefined;
  #failure: unknown;
  #tasks = 0;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  start(): void {
    const loops = QUEUES.flatMap((name) => [this.#produce(name), this.#consume(name), this.#consume(name)]);
    this.#all = Promise.all([...loops, this.#sweep()]);
    this.#all.catch((error: unknown) => (this.#failure = error));
  }

  /** Waits until each queue has that many more acknowledged enqueues, and as many completions. */
  async more(count: number): Promise<void> {
    const goals = QUEUES.map((name) => [name, this.#sizeOf(name) + count] as const);
    const completed = this.#completed.size + count * QUEUES.length;
    while (this.#completed.size < completed || goals.some(([name, goal]) => this.#sizeOf(name) < goal)) {
      if (this.#failure !== undefined) throw this.#failure;
      await sleep(5);
    }
  }

  /**
   * Ends the load, and completes what is left.
   * @returns what is wrong: tasks that are not completed, or were delivered or completed twice
   */
  async stop(): Promise<string[]> {
    this.#run.over = true;
    await this.#all;
    // Until the last delayed tasks are due.
    await sleep(2 * DELAY);
    const wrong: string[] = [];
    for (const name of QUEUES) {
      const queue = this.#queue(name);
      await sweep(this.#transport, {});
      while (await this.#work(queue)) continue;
      for (const id of this.#enqueued.get(name) ?? []) {
        const key = `${name} ${id}`;
        const task = await queue.get(id);
        const completed = [...(this.#completed.get(key) ?? [])];
        const delivered = [...(this.#delivered.get(key) ?? [])];
        // No lease expires and no attempt fails, so each copy of a dequeue has to return the same lease.
        const isRight =
          task?.state === "completed" &&
          task.attempt === 1 &&
          completed.length === 1 &&
          delivered.length === 1 &&
          task.result === completed[0];
        if (!isRight) wrong.push(JSON.stringify({ key, task, completed, delivered }));
      }
      const counts = await queue.counts();
      if (counts.pending + counts.working + counts.delayed > 0) wrong.push(JSON.stringify({ name, counts }));
    }
    return wrong;
  }

  #sizeOf(name: string): number {
    return this.#enqueued.get(name)?.size ?? 0;
  }

  #queue(name: string): Queue<number> {
    return new Queue<number>(name, { transport: this.#transport, lease: "5m", resultTtl: "5m" });
  }

  async #produce(name: string): Promise<void> {
    while (!this.#run.over) {
      const tasks = Array.from({ length: 1 + (this.#tasks % 4) }, (_, i) => ({
        id: `t${this.#tasks++}`,
        payload: i,
        ...(this.#tasks % 5 === 0 && { group: "g" }),
        ...(this.#tasks % 7 === 0 && { delay: DELAY }),
      }));
      const added = await this.#queue(name).enqueueMany(tasks);
      for (const { id, created } of added) {
        if (!created) throw new Error(`${id} was answered as known`);
        this.#enqueued.get(name)?.add(id);
      }
      await sleep(10);
    }
  }

  async #consume(name: string): Promise<void> {
    const queue = this.#queue(name);
    while (!this.#run.over) {
      await this.#work(queue);
      await sleep(5);
    }
  }

  /** @returns whether there were tasks */
  async #work(queue: Queue<number>): Promise<boolean> {
    const batch = await queue.dequeue({ max: 5 });
    for (const { id, receipt } of batch) note(this.#delivered, `${queue.name} ${id}`, receipt);
    const settled = await queue.settle(
      batch.map(({ receipt }) => ({ receipt, outcome: "complete", result: receipt })),
    );
    for (const [i, answer] of settled.entries()) {
      if (!answer.ok) throw new Error(`${batch[i]?.id} was refused: ${answer.code}`);
      note(this.#completed, `${queue.name} ${batch[i]?.id}`, answer.receipt);
    }
    return batch.length > 0;
  }

  async #sweep(): Promise<void> {
    while (!this.#run.over) {
      const { failed } = await sweep(this.#transport, {});
      if (failed.length > 0) throw new Error(JSON.stringify(failed));
      await sleep(100);
    }
  }
}

function note(notes: Map<string, Set<string>>, key: string, receipt: string): void {
  notes.set(key, (notes.get(key) ?? new Set()).add(receipt));
}
