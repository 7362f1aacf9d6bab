import { operatorOf } from "../open/operator.ts";
import { embedded, EmbeddedDatabase } from "../embedded/index.ts";
import { linked } from "../features/linked/index.ts";
import { type Keys, queueKeys, readShardName, registryKey } from "../kernel/names/keys.ts";
import { type Open, opening } from "../open/opening.ts";
import { LAST_INSTANT } from "../kernel/options/instants.ts";
import type { Transport } from "../kernel/transport.ts";
import { SluiceError } from "../errors.ts";
import { CallLog } from "./call-log.ts";

/** Most instants that one move of the clock stops at. */
const MOST_STOPS = 10_000;

/** A queue with pending tasks. */
interface PendingQueue {
  readonly name: string;
  readonly pending: number;
  readonly working: number;
  readonly paused: boolean;
  readonly pausedUntil: number | null;
}

/** An embedded database for a test, with a clock that moves only when the test says so. */
export class TestDatabase {
  /** Reaches the database, and records what is enqueued and dequeued. */
  readonly transport: Transport;
  readonly log = new CallLog();
  readonly #database: EmbeddedDatabase;
  readonly #prefix: string | undefined;
  #now: number;
  /** By queue, the names of those of its partitions that were ever in use. */
  readonly #partitions = new Map<string, Set<string>>();

  /**
   * @param now where the clock begins, epoch ms
   * @param prefix first part of every key
   */
  constructor(now: number, prefix?: string) {
    this.#now = now;
    this.#prefix = prefix;
    this.#database = new EmbeddedDatabase({ now: () => this.#now });
    const transport = embedded(this.#database);
    this.transport = linked({
      ...transport,
      send: async (commands, options) => {
        const outcomes = await transport.send(commands, options);
        this.log.add(commands, outcomes);
        return outcomes;
      },
    });
  }

  get now(): number {
    return this.#now;
  }

  /** The names of all queues that were ever in use. */
  get queues(): ReadonlySet<string> {
    this.#registered();
    return new Set(this.#partitions.keys());
  }

  /**
   * Moves the clock, and stops at each instant at which a task, an occurrence or an expired lease is due, or a rate
   * allows more.
   * @param ms how far
   * @param run called at the beginning, at each stop, and at the end
   * @throws {SluiceError} `invalid_argument` if there are more than 10,000 stops
   */
  async advance(ms: number, run: () => Promise<void>): Promise<void> {
    const end = this.#now + ms;
    const count = stopCounter("before its end: advance it by less");
    // What is due now comes before what is due later.
    await run();
    for (;;) {
      const next = Math.min(await this.#nextDue(() => true), ...this.#occurrences());
      if (next > end) break;
      count();
      await this.#stopAt(next, run);
    }
    await this.#stopAt(end, run);
  }

  /**
   * Moves the clock until some queues have no task left that a move of the clock would start. Schedules do not run
   * meanwhile: the tasks of a schedule that occurs often may never all have ended.
   * @param run works on what is pending; called at the beginning and at each stop
   * @param has whether a queue is one of these queues
   * @throws {SluiceError} `invalid_argument` if there are more than 10,000 stops, or if pending tasks are left
   */
  async moveToEnd(run: () => Promise<void>, has: (queue: string) => boolean): Promise<void> {
    const count = stopCounter("and tasks still wait: a handler may enqueue again and again");
    await run();
    await this.#withoutSchedules(run, async (runStill) => {
      for (let next = this.#now; next <= LAST_INSTANT; next = await this.#nextDue(has)) {
        let before: number;
        do {
          count();
          before = this.log.delivered;
          await this.#stopAt(next, runStill);
          // A drain may have ended before the work, or a handler may have enqueued to a queue that was done.
        } while (this.log.delivered > before && (await this.pending(has)).some(({ paused }) => !paused));
      }
    });
    const left = await this.pending(has);
    if (left.length > 0) throw new SluiceError("invalid_argument", left.map(whyLeft).join("; "));
  }

  /** The queues with pending tasks, of those that `has` accepts. */
  async pending(has: (queue: string) => boolean): Promise<PendingQueue[]> {
    const found: PendingQueue[] = [];
    for (const name of this.queues) {
      const keys = has(name) ? this.#keysOf(name) : [];
      const waits = keys.flatMap(({ pending, fair, limited }) => [pending, fair, limited]);
      if (waits.length === 0 || this.#database.call("EXISTS", ...waits) === 0) continue;
      const counts = await this.#open(name).queue().counts();
      if (counts.pending > 0) found.push({ ...counts, name });
    }
    return found;
  }

  get #open(): Open {
    return opening({ transport: this.transport, prefix: this.#prefix, partitions: "stored" });
  }

  /** The keys of each partition of a queue. */
  #keysOf(queue: string): Keys[] {
    return Array.from(this.#partitions.get(queue) ?? [], (partition) => queueKeys(partition, this.#prefix));
  }

  async #stopAt(instant: number, run: () => Promise<void>): Promise<void> {
    this.#now = instant;
    await run();
    this.#keepRegistered();
  }

  /**
   * The first instant after now at which a task of a queue is due, a lease expires, or a rate allows more, epoch ms;
   * infinite if there is none.
   */
  async #nextDue(has: (queue: string) => boolean): Promise<number> {
    const due: number[] = [];
    for (const name of this.queues) {
      if (!has(name)) continue;
      for (const key of this.#keysOf(name).flatMap(({ delayed, working }) => [delayed, working])) {
        const after = `(${this.#now}.5`;
        const [first] = this.#pairs("ZRANGE", key, after, "+inf", "BYSCORE", "LIMIT", "0", "1", "WITHSCORES");
        if (first) due.push(Math.floor(first[1]));
      }
    }
    for (const queue of await this.pending(has)) {
      const all = Array.from(this.#partitions.get(queue.name) ?? [], (one) => this.log.nextDueAt(one));
      if (queue.pausedUntil !== null) due.push(queue.pausedUntil);
      const again = all.filter((at) => at > this.#now);
      if (again.length > 0 && (await this.#waitsForRate(queue))) due.push(...again);
    }
    return Math.min(...due.filter((at) => at > this.#now && at <= LAST_INSTANT));
  }

  /** False if the queue waits for working tasks: its `nextDueAt` then only says to ask again, and leases count. */
  async #waitsForRate({ name, working }: PendingQueue): Promise<boolean> {
    const { rate, maxWorking } = await operatorOf(this.#open(name)).settings();
    return rate !== null && working < (maxWorking ?? Infinity);
  }

  /** The next occurrences of schedules after now, epoch ms. */
  #occurrences(): number[] {
    const reminders = this.#registered().filter(([name]) => name.startsWith("~"));
    return reminders.map(([, at]) => at).filter((at) => at > this.#now && at <= LAST_INSTANT);
  }

  /** Hides the reminders of schedules from the sweeps of `run`. Afterwards they are as before. */
  async #withoutSchedules(
    run: () => Promise<void>,
    move: (run: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const hidden: [name: string, at: number][] = [];
    try {
      await move(async () => {
        // A handler may have put a schedule.
        const reminders = this.#registered().filter(([name]) => name.startsWith("~"));
        for (const [name] of reminders) this.#database.call("ZREM", this.#registry, name);
        hidden.push(...reminders);
        await run();
      });
    } finally {
      for (const [name, at] of hidden) this.#database.call("ZADD", this.#registry, "LT", String(at), name);
    }
  }

  get #registry(): string {
    return registryKey(this.#prefix);
  }

  #registered(): [name: string, score: number][] {
    const found = this.#pairs("ZRANGE", this.#registry, "0", "-1", "WITHSCORES");
    for (const [name] of found) {
      // The reminder of a schedule, or how many partitions a queue has.
      if (name.startsWith("~") || name.startsWith("/")) continue;
      const { queue } = readShardName(name);
      this.#partitions.set(queue, (this.#partitions.get(queue) ?? new Set()).add(name));
    }
    return found;
  }

  /** A sweep unregisters queues that are unused for an hour. Producers register them by real time, not the test's. */
  #keepRegistered(): void {
    this.#registered();
    for (const name of [...this.#partitions.values()].flatMap((names) => [...names]))
      this.#database.call("ZADD", this.#registry, "GT", String(this.#now), name);
  }

  #pairs(...command: [string, ...string[]]): [string, number][] {
    const flat = this.#database.call(...command) as readonly string[];
    return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", Number(flat[2 * i + 1])]);
  }
}

function stopCounter(then: string): () => void {
  let stops = 0;
  return () => {
    stops += 1;
    if (stops <= MOST_STOPS) return;
    throw new SluiceError(
      "invalid_argument",
      `the clock has stopped ${MOST_STOPS.toLocaleString("en")} times ${then}`,
    );
  };
}

function whyLeft({ name, pending, paused }: PendingQueue): string {
  const tasks = `${pending} pending ${pending === 1 ? "task" : "tasks"}`;
  const why = paused ? "the queue is paused" : "its consumer did not take them";
  return `${name} has ${tasks} that no move of the clock starts: ${why}`;
}
