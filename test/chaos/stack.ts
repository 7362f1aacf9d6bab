import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Operator, Queue, Schedules } from "../../src/index.ts";
import { freePort } from "../../src/local/stack/port.ts";
import { resp } from "../../src/transport/resp.ts";
import { violations } from "../support/invariants.ts";
import { type KeySpace, readKeySpace } from "../support/key-space.ts";
import { partitionSpaces } from "../support/partition-spaces.ts";
import { PATIENT } from "../support/patient.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { appendedCommands } from "./append-only-file.ts";
import type { Ledger } from "./ledger.ts";
import { partitionFaults } from "./partition-faults.ts";
import { Processes, type ProcessesOptions, type Role } from "./processes.ts";
import { type Errand, MAX_WORKING, QUEUES } from "./work.ts";

/** Puts everything acknowledged on the disk, in a file that keeps all that was ever written. */
const DURABLE = ["--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"];

export const GATEWAY: Role = { name: "gateway", program: "gateway" };
export const SERVER: Role = { name: "server", program: "server" };

export const PLAYERS: readonly Role[] = [
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

/** What can go wrong, apart from the processes. */
export type Trouble = () => Promise<void>;

/** How often a deck of troubles kills and pauses some process of each program. */
export type Shares = Partial<Record<Role["program"], { readonly kill: number; readonly pause: number }>>;

export const ONCE = { kill: 1, pause: 1 };

/** Redis, or a cluster, and all processes that use it. */
export interface Stack {
  readonly processes: Processes;
  readonly shares: Shares;
  /** What is killed, or goes wrong, in each run. */
  readonly certain: readonly string[];
  /** The occurrences of the schedules until the end of the trouble, such as `tick.1700000000000`. */
  readonly ticks: ReadonlySet<string>;
  /** Some of each kind of trouble that is not of the processes alone. */
  troubles(pause: (role: Role) => void): readonly Trouble[];
  /** Waits until the server answers. */
  answers(role: Role): Promise<void>;
  /** Which invariants the raw keys violate, at a moment without writes. */
  look(): Promise<string[]>;
  /** Ends what it does to requests. */
  calm(): void;
  /** How many tasks have not ended, and schedules. */
  left(): Promise<number>;
  /** Each command that Redis ever carried out on a queue, in order. Read at the end. */
  history(): Promise<{ readonly commands: Iterable<readonly string[]>; readonly faults: readonly string[] }>;
  /** Copies Redis's files into a folder. */
  keepFiles(folder: string): void;
  /** Ends all that still runs, and removes Redis's files. */
  close(): Promise<void>;
}

/** What a stack is opened with. */
export type StackOptions = Omit<ProcessesOptions, "environment">;

/** One Redis, behind the gateway and the server. */
export class SingleStack implements Stack {
  readonly redis: TestRedis;
  readonly processes: Processes;
  readonly shares: Shares = {
    consumer: { kill: 4, pause: 3 },
    producer: ONCE,
    sweeper: ONCE,
    deepSweeper: ONCE,
  };
  readonly certain: readonly string[] = ["redis", "gateway", "server"];
  ticks: ReadonlySet<string> = new Set();
  protected readonly options: ProcessesOptions;
  #redisLives = 0;

  /** Starts Redis and the gateway; then the queues are set up, and all others start. */
  static async open(options: StackOptions, seconds: number): Promise<SingleStack> {
    const redis = await startRedis({ args: DURABLE });
    const stack = new this(redis, {
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
      stack.ticks = await setUp(redis.url, seconds);
      await stack.processes.compile();
      for (const role of [GATEWAY, SERVER]) {
        stack.processes.start(role);
        await stack.answers(role);
      }
      for (const role of await stack.players()) stack.processes.start(role);
      return stack;
    } catch (error) {
      await stack.close();
      throw error;
    }
  }

  protected constructor(redis: TestRedis, options: ProcessesOptions) {
    this.redis = redis;
    this.options = options;
    this.processes = new Processes(options);
  }

  /** The roles beside the gateway and the server. */
  protected async players(): Promise<readonly Role[]> {
    return PLAYERS;
  }

  answers(role: Role): Promise<void> {
    const { CHAOS_GATEWAY, CHAOS_SERVER } = this.options.environment;
    const url = role === GATEWAY ? CHAOS_GATEWAY : `${CHAOS_SERVER}/openapi.json`;
    return answersAt(url, role, this.processes, this.options.ledger);
  }

  troubles(pause: (role: Role) => void): readonly Trouble[] {
    return [
      async () => {
        await this.processes.kill(GATEWAY);
        await this.processes.settled([GATEWAY]);
        await this.answers(GATEWAY);
      },
      async () => pause(GATEWAY),
      () => this.#killRedis(this.options.roll(700)),
    ];
  }

  async #killRedis(downFor: number): Promise<void> {
    this.options.ledger.write({ what: "killed", process: `redis.${this.#redisLives}` });
    await this.redis.kill();
    await sleep(downFor);
    await this.redis.restart();
    this.#noteRedis();
  }

  /** Stops writes meanwhile. */
  async look(): Promise<string[]> {
    const process = `redis.${this.#redisLives}`;
    this.options.ledger.write({ what: "paused", process });
    const space = await readKeySpace(this.redis.url, true);
    this.options.ledger.write({ what: "resumed", process });
    return brokenInvariants(space);
  }

  calm(): void {
    this.processes.signal(GATEWAY, "SIGUSR2");
  }

  left(): Promise<number> {
    return tasksLeft(this.redis.url);
  }

  async history(): ReturnType<Stack["history"]> {
    return { commands: appendedCommands(this.redis.folder), faults: [] };
  }

  keepFiles(folder: string): void {
    cpSync(join(this.redis.folder, "appendonlydir"), join(folder, "appendonlydir"), { recursive: true });
  }

  /** Ends all that still runs, and removes Redis's files. */
  async close(): Promise<void> {
    await endAll(this.processes);
    await this.redis.stop();
  }

  #noteRedis(): void {
    this.options.ledger.write({ what: "started", process: `redis.${++this.#redisLives}` });
  }
}

/** Waits until the gateway, or the server, answers. */
export async function answersAt(
  url: string,
  role: Role,
  processes: Processes,
  ledger: Ledger,
): Promise<void> {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(20)) {
    const answer = await fetch(url).catch(() => undefined);
    await answer?.text();
    if (answer) {
      ledger.write({ what: "ready", process: processes.nameOf(role) });
      return;
    }
  }
  throw new Error(`the ${role.name} does not answer`);
}

export function brokenInvariants(space: KeySpace): string[] {
  return Object.values(QUEUES).flatMap((queue) => [
    ...[...partitionSpaces(space, queue)].flatMap(([partition, own]) =>
      violations(own).map((violation) => `${queue}/${partition}: ${violation}`),
    ),
    ...partitionFaults(space, queue).map((fault) => `${queue}: ${fault}`),
  ]);
}

/** How many tasks have not ended, and schedules. */
export async function tasksLeft(redisUrl: string): Promise<number> {
  const transport = resp({ url: redisUrl, retry: PATIENT });
  try {
    const timetable = new Schedules(QUEUES.ticks, { transport });
    // First, because each occurrence becomes a task.
    const schedules = await Promise.all(SCHEDULES.map(({ name }) => timetable.get(name)));
    const due = schedules.filter((schedule) => schedule?.nextAt != null).length;
    const counts = await Promise.all(
      Object.values(QUEUES).map((name) => new Queue(name, { transport }).counts()),
    );
    return counts.reduce((sum, { pending, delayed, working }) => sum + pending + delayed + working, due);
  } finally {
    await transport.close();
  }
}

/** In the order in which they end. */
const PROGRAMS = [
  "producer",
  "consumer",
  "deployment",
  "sweeper",
  "deepSweeper",
  "server",
  "gateway",
] as const satisfies readonly Role["program"][];

export async function endAll(processes: Processes): Promise<void> {
  for (const program of PROGRAMS) await processes.end(program);
}

const SCHEDULES = [
  { name: "tick", group: undefined },
  { name: "tock", group: "clock" },
];

/**
 * Configures the queues, and starts two schedules that have an occurrence a second. The tasks of one have a group.
 * @param seconds how long
 * @returns the occurrences of the schedules
 */
export async function setUp(redisUrl: string, seconds: number): Promise<Set<string>> {
  const ticks = new Set<string>();
  const transport = resp({ url: redisUrl, retry: PATIENT });
  try {
    const operator = new Operator(QUEUES.shared, { transport });
    await operator.configure({ maxWorking: MAX_WORKING[QUEUES.shared], events: true, statistics: true });
    await new Operator(QUEUES.recalled, { transport }).configure({ events: true, statistics: true });
    await operator.configureGroup("g0", { maxWorking: 5 });
    await operator.configureGroup("g1", { rate: { most: 30, per: "2s" } });
    await operator.configureGroup("g2", { weight: 3 });
    const schedules = new Schedules<Errand>(QUEUES.ticks, { transport });
    const payload: Errand = { mark: "tick", does: "quick" };
    const until = Date.now() + seconds * 1_000;
    for (const { name, group } of SCHEDULES) {
      const recurring = { every: "1s", missed: "all", until, payload, group } as const;
      const { nextAt } = await schedules.put(name, recurring);
      if (nextAt === null) throw new Error("the schedule has no occurrence");
      for (let at = nextAt; at <= until; at += 1_000) ticks.add(`${name}.${at}`);
    }
    return ticks;
  } finally {
    await transport.close();
  }
}
