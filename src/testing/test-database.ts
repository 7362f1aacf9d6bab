import { embedded, EmbeddedDatabase } from "../embedded/index.ts";
import { queueKeys, registryKey } from "../queue/core/keys.ts";
import { LAST_INSTANT } from "../queue/core/validation.ts";
import type { Transport } from "../queue/redis/transport.ts";
import { SluiceError } from "../errors.ts";
import { EnqueueLog } from "./enqueue-log.ts";

/** Most instants that one move of the clock stops at. */
const MOST_STOPS = 10_000;

/** An embedded database for a test, with a clock that moves only when the test says so. */
export class TestDatabase {
  readonly database: EmbeddedDatabase;
  /** Reaches the database, and records what is enqueued. */
  readonly transport: Transport;
  readonly log = new EnqueueLog();
  #now: number;
  /** Queues that were ever in use. */
  readonly #queues = new Set<string>();

  /** @param now where the clock begins, epoch ms */
  constructor(now: number) {
    this.#now = now;
    this.database = new EmbeddedDatabase({ now: () => this.#now });
    const transport = embedded(this.database);
    this.transport = {
      ...transport,
      send: async (commands, options) => {
        const outcomes = await transport.send(commands, options);
        this.log.add(commands, outcomes);
        return outcomes;
      },
    };
  }

  get now(): number {
    return this.#now;
  }

  /**
   * Moves the clock, and stops at each instant at which something becomes due.
   * @param to the last instant, epoch ms
   * @param schedules whether to stop at occurrences of schedules too
   * @param run called at the beginning, at each stop, and at the end
   */
  async moveTo(to: number, schedules: boolean, run: () => Promise<void>): Promise<void> {
    // What is due now comes before what is due later.
    await run();
    for (let stops = 0; ; stops++) {
      const next = this.#nextDue(schedules);
      if (next === undefined || next > to) break;
      if (stops === MOST_STOPS) {
        throw new SluiceError(
          "invalid_argument",
          `the clock has more than ${MOST_STOPS} stops before its end`,
        );
      }
      this.#now = next;
      await run();
      this.#keepRegistered();
    }
    if (to === LAST_INSTANT) return;
    this.#now = to;
    await run();
    this.#keepRegistered();
  }

  /** The first instant after now at which a task or an occurrence is due or a lease expires, epoch ms. */
  #nextDue(schedules: boolean): number | undefined {
    const due: number[] = [];
    for (const [name, score] of this.#registered()) {
      if (name.startsWith("~")) {
        if (schedules) due.push(score);
        continue;
      }
      const { delayed, working } = queueKeys(name);
      for (const key of [delayed, working]) {
        const after = `(${this.#now}.5`;
        const [, first] =
          this.#pairs("ZRANGE", key, after, "+inf", "BYSCORE", "LIMIT", "0", "1", "WITHSCORES")[0] ?? [];
        if (first !== undefined) due.push(Math.floor(first));
      }
    }
    const later = due.filter((at) => at > this.#now && at <= LAST_INSTANT);
    return later.length > 0 ? Math.min(...later) : undefined;
  }

  #registered(): [name: string, score: number][] {
    const found = this.#pairs("ZRANGE", registryKey(), "0", "-1", "WITHSCORES");
    for (const [name] of found) if (!name.startsWith("~")) this.#queues.add(name);
    return found;
  }

  /** A sweep takes queues off the registry that are unused for an hour; producers note them by real time. */
  #keepRegistered(): void {
    this.#registered();
    for (const name of this.#queues) this.database.call("ZADD", registryKey(), "GT", String(this.#now), name);
  }

  #pairs(...command: [string, ...string[]]): [string, number][] {
    const flat = this.database.call(...command) as readonly string[];
    return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", Number(flat[2 * i + 1])]);
  }
}
