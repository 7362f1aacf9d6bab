import { setTimeout as sleep } from "node:timers/promises";
import { Operator, Queue, Schedules } from "../../src/index.ts";
import { freePort } from "../../src/local/stack/port.ts";
import { resp } from "../../src/transport/resp.ts";
import { violations } from "../support/invariants.ts";
import { queueSpace, readKeySpace } from "../support/key-space.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { Processes, type ProcessesOptions, type Role } from "./processes.ts";
import { type Errand, QUEUES } from "./work.ts";

/** Puts everything acknowledged on the disk, in a file that keeps all that was ever written. */
const DURABLE = ["--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"];

export const GATEWAY: Role = { name: "gateway", program: "gateway" };
export const SERVER: Role = { name: "server", program: "server" };

const PLAYERS: readonly Role[] = [
  { name: "producer-1", program: "producer" },
  { name: "producer-2", program: "producer" },
  { name: "producer-3", program: "producer", through: "server" },
  { name: "drain-1", program: "consumer", style: "drain" },
  { name: "drain-2", program: "consumer", style: "drain" },
  { name: "drain-3", program: "consumer", style: "drain", through: "server" },
  { name: "hand-1", program: "consumer", style: "hand" },
  { name: "hand-2", program: "consumer", style: "hand", through: "server" },
  { name: "worker-1", program: "consumer", style: "worker" },
  { name: "worker-2", program: "consumer", style: "worker", through: "server" },
  { name: "sweeper-1", program: "sweeper" },
  { name: "sweeper-2", program: "sweeper" },
  { name: "deep-1", program: "deepSweeper", style: "all" },
  { name: "deep-2", program: "deepSweeper", style: "slow" },
];

/** Redis, the gateway, the server, and all processes that use them. */
export class Stack {
  readonly redis: TestRedis;
  readonly processes: Processes;
  /** Ids of the tasks that the schedule enqueues until the end of the trouble. */
  readonly ticks = new Set<string>();
  readonly #options: ProcessesOptions;
  #redisLives = 0;

  /** Starts Redis and the gateway; then the queues are set up, and all others start. */
  static async open(options: Omit<ProcessesOptions, "environment">, scheduleUntil: number): Promise<Stack> {
    const redis = await startRedis({ args: DURABLE });
    const stack = new Stack(redis, {
      ...options,
      environment: {
        CHAOS_REDIS: redis.url,
        CHAOS_GATEWAY: `http://127.0.0.1:${await freePort()}`,
        CHAOS_SERVER: `http://127.0.0.1:${await freePort()}`,
        CHAOS_TOKEN: crypto.randomUUID(),
      },
    });
    stack.#noteRedis();
    try {
      await stack.#setUp(scheduleUntil);
      for (const role of [GATEWAY, SERVER]) {
        stack.processes.start(role);
        await stack.answers(role);
      }
      for (const role of PLAYERS) stack.processes.start(role);
      return stack;
    } catch (error) {
      await stack.close();
      throw error;
    }
  }

  private constructor(redis: TestRedis, options: ProcessesOptions) {
    this.redis = redis;
    this.#options = options;
    this.processes = new Processes(options);
  }

  /** Waits until the gateway, or the server, answers. */
  async answers(role: Role): Promise<void> {
    const { CHAOS_GATEWAY, CHAOS_SERVER } = this.#options.environment;
    const url = role === GATEWAY ? CHAOS_GATEWAY : `${CHAOS_SERVER}/openapi.json`;
    for (const end = Date.now() + 20_000; Date.now() < end; await sleep(20)) {
      const answer = await fetch(url).catch(() => undefined);
      await answer?.text();
      if (answer) {
        this.#options.ledger.write({ what: "ready", process: this.processes.nameOf(role) });
        return;
      }
    }
    throw new Error(`the ${role.name} does not answer`);
  }

  async killRedis(downFor: number): Promise<void> {
    this.#options.ledger.write({ what: "killed", process: `redis.${this.#redisLives}` });
    await this.redis.kill();
    await sleep(downFor);
    await this.redis.restart();
    this.#noteRedis();
  }

  /** Which invariants the raw keys violate, at a moment without calls. */
  async look(): Promise<string[]> {
    const space = await readKeySpace(this.redis.url);
    return Object.values(QUEUES).flatMap((queue) =>
      violations(queueSpace(space, queue)).map((violation) => `${queue}: ${violation}`),
    );
  }

  /** How many tasks have not ended. */
  async left(): Promise<number> {
    const transport = resp(this.redis.url);
    try {
      const counts = await Promise.all(
        Object.values(QUEUES).map((name) => new Queue(name, { transport }).counts()),
      );
      return counts.reduce((sum, { pending, delayed, working }) => sum + pending + delayed + working, 0);
    } finally {
      await transport.close();
    }
  }

  /** Ends all that still runs, and removes Redis's files. */
  async close(): Promise<void> {
    for (const program of ["producer", "consumer", "sweeper", "deepSweeper", "server", "gateway"] as const) {
      await this.processes.end(program);
    }
    await this.redis.stop();
  }

  async #setUp(until: number): Promise<void> {
    const transport = resp(this.redis.url);
    try {
      const operator = new Operator(QUEUES.shared, { transport });
      await operator.configure({ maxWorking: 60, events: true, statistics: true });
      await new Operator(QUEUES.recalled, { transport }).configure({ events: true, statistics: true });
      await operator.configureGroup("g0", { maxWorking: 5 });
      await operator.configureGroup("g1", { rate: { most: 30, per: "2s" } });
      await operator.configureGroup("g2", { weight: 3 });
      const schedules = new Schedules<Errand>(QUEUES.ticks, { transport });
      const payload: Errand = { mark: "tick", does: "quick" };
      const { nextAt } = await schedules.put("tick", { every: "1s", missed: "all", until, payload });
      if (nextAt === null) throw new Error("the schedule has no occurrence");
      for (let at = nextAt; at <= until; at += 1_000) this.ticks.add(`tick.${at}`);
    } finally {
      await transport.close();
    }
  }

  #noteRedis(): void {
    this.#options.ledger.write({ what: "started", process: `redis.${++this.#redisLives}` });
  }
}
