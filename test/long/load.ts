/** Producers, consumers and a sweep on one queue, and a record of all acknowledgements. */
import { setTimeout as sleep } from "node:timers/promises";
import { deepSweep, Queue, sweep, SluiceError, type Batch, type Transport } from "../../src/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { dice } from "../support/dice.ts";
import { violations } from "../support/invariants.ts";
import { queueSpace, readKeySpace, says, type QueueSpace } from "../support/key-space.ts";

export const QUEUE = "emails";
const LEASE = 1_000;
/** How the transport of a load tries again. */
export const RETRY = { deadline: 15_000, tryTimeout: 1_000, longestWait: 50 };
const kinds = [{}, {}, { group: "a" }, { group: "b", priority: 1 }, { delay: 30 }, { delay: 30, group: "a" }];

/**
 * Acknowledged facts that were lost: by id, the time of the acknowledgement (ms, {@link performance.now}).
 */
export interface Lost {
  /** Enqueued tasks, never completed, that are nowhere. */
  readonly tasks: ReadonlyMap<string, number>;
  /** Completed tasks that are there again, to be done once more. */
  readonly completions: ReadonlyMap<string, number>;
  /** Completed tasks that are unknown now. Their work is done. */
  readonly records: ReadonlyMap<string, number>;
}

export class Load {
  /** Acknowledged enqueues, by id, and when the answer came. */
  readonly enqueued = new Map<string, number>();
  readonly completed = new Map<string, number>();
  /** Tasks that a dequeue got that began after their completion was acknowledged. */
  readonly deliveredAgain: string[] = [];
  readonly #connect: () => Transport;
  readonly #roll: () => number;
  /** Tasks of a settle without an answer: it may have completed them. */
  readonly #unanswered = new Set<string>();
  #batches = 0;
  #failure: unknown;

  constructor(connect: () => Transport, seed: number) {
    this.#connect = connect;
    this.#roll = dice(seed);
  }

  /** @param death aborts when the process dies: then it sends nothing more, and hands nothing back */
  #transport(death?: AbortSignal): Transport {
    const transport = this.#connect();
    if (!death) return transport;
    const send: Transport["send"] = (commands, { signal, ...options } = {}) => {
      const ends = signal ? AbortSignal.any([signal, death]) : death;
      return transport.send(commands, { ...options, signal: ends });
    };
    return { ...transport, send };
  }

  #queue(death?: AbortSignal): Queue<number> {
    return new Queue<number>(QUEUE, { transport: this.#transport(death), lease: LEASE, maxAttempts: 0 });
  }

  /** Starts three of each. After an abort, the outcome of their last calls is unknown. */
  start(): { stop(): Promise<void>; abort(): Promise<void> } {
    const calls = new AbortController();
    const run = { over: false };
    const loops = [0, 1, 2].flatMap((i) => [
      this.#produce(run, calls.signal),
      this.#consume(run, calls.signal, `w${i}`),
    ]);
    loops.push(this.#sweep(run, calls.signal));
    const all = Promise.all(
      loops.map((loop) =>
        loop.catch((error: unknown) => {
          if (!(error instanceof SluiceError && error.code === "aborted")) throw error;
        }),
      ),
    );
    all.catch((error: unknown) => (this.#failure = error));
    const stop = async () => {
      run.over = true;
      await all;
    };
    return {
      stop,
      abort: () => {
        calls.abort();
        return stop();
      },
    };
  }

  /**
   * Waits until that many more enqueues and completions are acknowledged.
   * @throws the error that ended one of the producers or consumers
   */
  async more(count: number): Promise<void> {
    const [enqueued, completed] = [this.enqueued.size + count, this.completed.size + count];
    while (this.enqueued.size < enqueued || this.completed.size < completed) {
      if (this.#failure !== undefined) throw this.#failure;
      await sleep(5);
    }
  }

  async #produce(run: { over: boolean }, signal: AbortSignal): Promise<void> {
    while (!run.over) {
      const batch = this.#batches++;
      const size = 1 + Math.floor(this.#roll() * 8);
      const tasks = Array.from({ length: size }, (_, i) => ({
        id: `t${batch}-${i}`,
        payload: i,
        ...kinds[(batch + i) % kinds.length],
      }));
      await this.#queue(signal).enqueueMany(tasks, { signal });
      for (const { id } of tasks) this.enqueued.set(id, performance.now());
      await sleep(4);
    }
  }

  async #consume(run: { over: boolean }, signal: AbortSignal, name: string): Promise<void> {
    const worker = { name, silentAfter: "1m" } as const;
    while (!run.over) {
      const askedAt = performance.now();
      await this.#work(await this.#queue(signal).dequeue({ max: 8, worker, signal }), askedAt, signal);
      await sleep(2);
    }
  }

  async #work(batch: Batch<number>, askedAt: number, signal?: AbortSignal): Promise<void> {
    for (const { id } of batch) {
      if ((this.completed.get(id) ?? askedAt) < askedAt) this.deliveredAgain.push(id);
    }
    // Some are left until their lease expires; some fail.
    const settlements = batch.flatMap(({ receipt }) => {
      const roll = this.#roll();
      if (roll < 0.02) return [];
      return [{ receipt, outcome: roll < 0.1 ? ("requeue" as const) : ("complete" as const) }];
    });
    const ids = new Map(batch.map(({ receipt, id }) => [receipt, id]));
    const answers = await this.#queue(signal)
      .settle(settlements, { signal })
      .catch((error: unknown) => {
        for (const { receipt, outcome } of settlements) {
          if (outcome === "complete") this.#unanswered.add(ids.get(receipt) ?? "");
        }
        throw error;
      });
    for (const settled of answers) {
      const id = ids.get(settled.receipt) ?? "";
      if (settled.ok && settled.state === "completed") this.completed.set(id, performance.now());
    }
  }

  async #sweep(run: { over: boolean }, signal: AbortSignal): Promise<void> {
    while (!run.over) {
      await sweep(this.#transport(signal), { signal });
      await sleep(100);
    }
  }

  /** The acknowledged facts that were lost. To be called while no producer or consumer runs. */
  lost({ tasks }: QueueSpace): Lost {
    const those = (acknowledged: ReadonlyMap<string, number>, are: (id: string) => boolean) =>
      new Map([...acknowledged].filter(([id]) => are(id)));
    return {
      tasks: those(this.enqueued, (id) => !tasks.has(id) && !this.completed.has(id)),
      completions: those(this.completed, (id) => tasks.has(id) && !isCompleted(tasks, id)),
      records: those(this.completed, (id) => !tasks.has(id)),
    };
  }

  /**
   * The acknowledged tasks that were not completed. One whose settle was not answered is completed if its
   * record says so.
   */
  unfinished({ tasks }: QueueSpace): string[] {
    const byUnanswered = (id: string) => this.#unanswered.has(id) && isCompleted(tasks, id);
    return [...this.enqueued.keys()].filter((id) => !this.completed.has(id) && !byUnanswered(id));
  }

  /** Forgets the lost facts, so that they are not counted a second time. */
  writeOff({ tasks, completions, records }: Lost): void {
    for (const id of [...tasks.keys(), ...records.keys()]) this.enqueued.delete(id);
    for (const id of [...completions.keys(), ...records.keys()]) this.completed.delete(id);
  }

  /** Works until nothing is left. */
  async drain(): Promise<void> {
    for (;;) {
      await sweep(this.#transport());
      const askedAt = performance.now();
      const batch = await this.#queue().dequeue({ max: 100 });
      await this.#work(batch, askedAt);
      const { pending, delayed, working } = await this.#queue().counts();
      if (pending + delayed + working === 0) return;
      if (batch.length === 0) await sleep(20);
    }
  }
}

const isCompleted = (tasks: QueueSpace["tasks"], id: string) => says(tasks.get(`.${id}`))["s"] === "c";

/** The content of the queue, and the invariants that it violates. */
export async function look(redisUrl: string): Promise<{ space: QueueSpace; unsound: string[] }> {
  const space = queueSpace(await readKeySpace(redisUrl), QUEUE);
  return { space, unsound: violations(space) };
}

/** What a deep sweep finds to repair, as `<how many> <fault>`. */
export async function repaired(redisUrl: string): Promise<string[]> {
  const transport = resp(redisUrl);
  try {
    const { faults, failed } = await deepSweep(transport, { queue: QUEUE });
    return [...faults.map(({ fault, count }) => `${count} ${fault}`), ...failed.map(({ code }) => code)];
  } finally {
    await transport.close();
  }
}

export const nothing: Lost = { tasks: new Map(), completions: new Map(), records: new Map() };

/** The ids of lost facts that were acknowledged at that time or before. */
export function acknowledgedUntil(at: number, { tasks, completions, records }: Lost): string[] {
  return [...tasks, ...completions, ...records].filter(([, time]) => time <= at).map(([id]) => id);
}

/** The number of lost facts, and how long before `until` the oldest was acknowledged, ms. */
export function reported({ tasks, completions, records }: Lost, until: number): string {
  const times = [tasks, completions, records].flatMap((those) => [...those.values()]);
  const oldest = times.length === 0 ? "" : `, the oldest ${Math.round(until - Math.min(...times))} ms before`;
  return `lost: ${tasks.size} tasks, ${completions.size} completions, ${records.size} records of completed tasks${oldest}`;
}
