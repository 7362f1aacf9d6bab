import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { flows } from "../../../src/http/flows/index.ts";
import { Operator, Queue, Schedules, sweep } from "../../../src/index.ts";
import { registryKey } from "../../../src/kernel/names/keys.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { freePort } from "../../../src/local/stack/port.ts";
import { resp } from "../../../src/transports/resp.ts";
import { leftOfFlows, notedPartitions, remainsOfFlows } from "../../support/flows-left.ts";
import { violations } from "../../support/invariants.ts";
import { type KeySpace, readKeySpace } from "../../support/key-space.ts";
import { partitionSpaces } from "../../support/partition-spaces.ts";
import { PATIENT } from "../../support/patient.ts";
import { startRedis, type TestRedis } from "../../support/redis.ts";
import { appendedCommands } from "./append-only-file.ts";
import { partitionFaults } from "./partition-faults.ts";
import { Processes, type ProcessesOptions, type Role } from "./processes.ts";
import { type Errand, MAX_WORKING, QUEUES } from "./work.ts";

/** Puts everything acknowledged on the disk, in a file that keeps all that was ever written. */
const DURABLE = ["--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"];

const GATEWAY: Role = { name: "gateway", program: "gateway" };
export const SERVER: Role = { name: "server", program: "server" };

const PLAYERS: readonly Role[] = [
  { name: "producer-1", program: "producer" },
  { name: "producer-2", program: "producer" },
  { name: "producer-3", program: "producer", through: "server" },
  { name: "flows-1", program: "producer", style: "flows" },
  { name: "flows-2", program: "producer", style: "flows", through: "server" },
  { name: "drain-1", program: "consumer", style: "drain" },
  { name: "drain-2", program: "consumer", style: "drain" },
  { name: "drain-3", program: "consumer", style: "drain", through: "server" },
  { name: "hand-1", program: "consumer", style: "hand" },
  { name: "hand-2", program: "consumer", style: "hand", through: "server" },
  { name: "worker-1", program: "consumer", style: "worker" },
  { name: "worker-2", program: "consumer", style: "worker", through: "server" },
  { name: "receiver-1", program: "receiver" },
  { name: "sweeper-1", program: "sweeper" },
  { name: "sweeper-2", program: "sweeper" },
  { name: "deep-1", program: "deepSweeper", style: "all" },
  { name: "deep-2", program: "deepSweeper", style: "slow" },
];

/** How long a program may take until it answers, ms: also on a busy machine. */
const PATIENCE = 180_000;

/** Longer than any record is kept, ms. */
const LONGEST = 8 * 86_400_000;

/** What can go wrong, apart from the processes. */
export type Trouble = () => Promise<void>;

/** How often a deck of troubles kills and pauses some process of each program. */
export type Shares = Partial<Record<Role["program"], { readonly kill: number; readonly pause: number }>>;

export const ONCE = { kill: 1, pause: 1 };

export interface Urls {
  readonly redis: string;
  readonly gateway: string;
  readonly server: string;
  readonly receiver: string;
}

export const freeUrl = async () => `http://127.0.0.1:${await freePort()}`;

/** What a stack is opened with. */
export type StackOptions = Omit<ProcessesOptions, "environment">;

/** Redis, or a cluster, and all processes that use it. */
export abstract class Stack {
  readonly processes: Processes;
  abstract readonly shares: Shares;
  /** What is killed, or goes wrong, in each run. */
  abstract readonly certain: readonly string[];
  /** The occurrences of the schedules until the end of the trouble, such as `tick.1700000000000`. */
  ticks: ReadonlySet<string> = new Set();
  protected readonly options: ProcessesOptions;
  /** How often a Redis was started. */
  #lives = 0;

  /** @param urls of the gateway an empty one, if there is none */
  protected constructor(options: StackOptions, urls: Urls) {
    const environment = {
      CHAOS_REDIS: urls.redis,
      CHAOS_GATEWAY: urls.gateway,
      CHAOS_SERVER: urls.server,
      CHAOS_TOKEN: crypto.randomUUID(),
      CHAOS_RECEIVER: urls.receiver,
    };
    this.options = { ...options, environment };
    this.processes = new Processes(this.options);
  }

  /** Sets up the queues, and starts the gateway and the server, then all others. */
  async begin(seconds: number): Promise<this> {
    const { CHAOS_REDIS, CHAOS_GATEWAY } = this.options.environment;
    try {
      this.noteRedis("started");
      this.ticks = await setUp(CHAOS_REDIS, seconds);
      await this.processes.compile();
      for (const role of CHAOS_GATEWAY === "" ? [SERVER] : [GATEWAY, SERVER]) {
        this.processes.start(role);
        await this.#answers(role);
      }
      for (const role of await this.players()) this.processes.start(role);
      return this;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** The roles beside the gateway and the server. */
  protected async players(): Promise<readonly Role[]> {
    return PLAYERS;
  }

  /** Kills the gateway or the server, and waits until the next one answers. */
  async replace(role: Role): Promise<void> {
    await this.processes.kill(role);
    await this.processes.settled([role]);
    await this.#answers(role);
  }

  /** Waits until the gateway, or the server, answers. */
  async #answers(role: Role): Promise<void> {
    const { CHAOS_GATEWAY, CHAOS_SERVER } = this.options.environment;
    const url = role === GATEWAY ? CHAOS_GATEWAY : `${CHAOS_SERVER}/openapi.json`;
    for (const end = Date.now() + PATIENCE; Date.now() < end; await sleep(20)) {
      const answer = await fetch(url).catch(() => undefined);
      await answer?.text();
      if (answer) {
        this.options.ledger.write({ what: "ready", process: this.processes.nameOf(role) });
        return;
      }
    }
    throw new Error(`the ${role.name} does not answer`);
  }

  /** Some of each kind of trouble that is not of the processes alone. */
  abstract troubles(pause: (role: Role) => void): readonly Trouble[];

  /** All keys, at a moment without writes. */
  abstract keySpace(): Promise<KeySpace>;

  /** Which invariants the raw keys violate. */
  async look(): Promise<string[]> {
    return brokenInvariants(await this.keySpace());
  }

  /**
   * What flows have left, now that all of them have ended: at once, and when the time of their records is over. To be
   * called last.
   */
  async leftOfFlows(): Promise<string[]> {
    const transport = resp({ url: this.options.environment.CHAOS_REDIS, retry: PATIENT });
    const queues = Object.values(QUEUES);
    const sweepAt = (now: number) =>
      sweep(linked(transport), { also: [flows], budget: "1m", now: () => now });
    try {
      await sweepAt(Date.now());
      const found = leftOfFlows(await this.keySpace(), queues, Date.now() + LONGEST);
      for (let more = true; more;) ({ more } = await sweepAt(Date.now() + LONGEST));
      return [...found, ...remainsOfFlows(await this.keySpace(), queues)];
    } finally {
      await transport.close();
    }
  }

  /** Ends what it does to requests. */
  calm(): void {
    if (this.options.environment.CHAOS_GATEWAY !== "") this.processes.signal(GATEWAY, "SIGUSR2");
  }

  /** How many tasks have not ended, and schedules. */
  async left(): Promise<number> {
    const transport = resp({ url: this.options.environment.CHAOS_REDIS, retry: PATIENT });
    try {
      const timetable = new Schedules(QUEUES.ticks, { transport });
      // First, because each occurrence becomes a task.
      const schedules = await Promise.all(SCHEDULES.map(({ name }) => timetable.get(name)));
      const due = schedules.filter((schedule) => schedule?.nextAt != null).length;
      const counts = await Promise.all(
        Object.values(QUEUES).map((name) => new Queue(name, { transport }).counts()),
      );
      const [registry] = await transport.send([["ZRANGE", registryKey(), "0", "-1"]]);
      const noted = notedPartitions(
        registry && "reply" in registry ? (registry.reply as string[]) : [],
      ).length;
      return counts.reduce(
        (sum, { pending, delayed, working }) => sum + pending + delayed + working,
        due + noted,
      );
    } finally {
      await transport.close();
    }
  }

  /** Each command that Redis ever carried out on a queue, in order. Read at the end. */
  abstract history(): Promise<{
    readonly commands: Iterable<readonly string[]>;
    readonly faults: readonly string[];
  }>;

  /** Copies Redis's files into a folder. */
  abstract keepFiles(folder: string): void;

  /** Ends all that still runs, and removes Redis's files. */
  async close(): Promise<void> {
    await endAll(this.processes);
    await this.stopRedis();
  }

  protected abstract stopRedis(): Promise<void>;

  protected async paused<T>(meanwhile: () => Promise<T>): Promise<T> {
    this.noteRedis("paused");
    try {
      return await meanwhile();
    } finally {
      this.noteRedis("resumed");
    }
  }

  protected noteRedis(what: "started" | "killed" | "paused" | "resumed"): void {
    if (what === "started") this.#lives++;
    this.options.ledger.write({ what, process: `redis.${this.#lives}` });
  }
}

/** One Redis, behind the gateway and the server. */
export class SingleStack extends Stack {
  readonly redis: TestRedis;
  readonly shares: Shares = {
    consumer: { kill: 4, pause: 3 },
    deployment: { kill: 2, pause: 2 },
    producer: ONCE,
    receiver: ONCE,
    sweeper: ONCE,
    deepSweeper: ONCE,
  };
  readonly certain: readonly string[] = ["redis", "gateway", "server"];

  static async open(options: StackOptions, seconds: number): Promise<SingleStack> {
    const redis = await startRedis({ args: DURABLE });
    const urls = {
      redis: redis.url,
      gateway: await freeUrl(),
      server: await freeUrl(),
      receiver: await freeUrl(),
    };
    return new this(redis, options, urls).begin(seconds);
  }

  protected constructor(redis: TestRedis, options: StackOptions, urls: Urls) {
    super(options, urls);
    this.redis = redis;
  }

  /** Also a deployment, and producers through it. */
  protected override async players(): Promise<readonly Role[]> {
    const url = await freeUrl();
    return [
      ...PLAYERS,
      { name: "edge-1", program: "deployment", style: "edge", url },
      { name: "producer-4", program: "producer", style: "lone", url },
      { name: "producer-5", program: "producer", style: "lone", url },
    ];
  }

  troubles(pause: (role: Role) => void): readonly Trouble[] {
    return [
      () => this.replace(GATEWAY),
      async () => pause(GATEWAY),
      () => this.#killRedis(this.options.roll(700)),
    ];
  }

  async #killRedis(downFor: number): Promise<void> {
    this.noteRedis("killed");
    await this.redis.kill();
    await sleep(downFor);
    await this.redis.restart();
    this.noteRedis("started");
  }

  /** Stops writes meanwhile. */
  keySpace(): Promise<KeySpace> {
    return this.paused(() => readKeySpace(this.redis.url, true));
  }

  async history(): ReturnType<Stack["history"]> {
    return { commands: appendedCommands(this.redis.folder), faults: [] };
  }

  keepFiles(folder: string): void {
    cpSync(join(this.redis.folder, "appendonlydir"), join(folder, "appendonlydir"), { recursive: true });
  }

  protected stopRedis(): Promise<void> {
    return this.redis.stop();
  }
}

export function brokenInvariants(space: KeySpace): string[] {
  return Object.values(QUEUES).flatMap((queue) => [
    ...[...partitionSpaces(space, queue)].flatMap(([partition, own]) =>
      violations(own).map((violation) => `${queue}/${partition}: ${violation}`),
    ),
    ...partitionFaults(space, queue).map((fault) => `${queue}: ${fault}`),
  ]);
}

/** In the order in which they end. */
const PROGRAMS = [
  "producer",
  "consumer",
  "deployment",
  "sweeper",
  "deepSweeper",
  "receiver",
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
async function setUp(redisUrl: string, seconds: number): Promise<Set<string>> {
  const ticks = new Set<string>();
  const transport = resp({ url: redisUrl, retry: PATIENT });
  try {
    const operator = new Operator(QUEUES.shared, { transport });
    await operator.configure({ maxWorking: MAX_WORKING[QUEUES.shared], events: true, statistics: true });
    await new Operator(QUEUES.recalled, { transport }).configure({ events: true, statistics: true });
    await operator.configureGroup("g0", { maxWorking: 5 });
    await operator.configureGroup("g1", { rate: { most: 30, per: "2s" } });
    await operator.configureGroup("g2", { weight: 3 });
    await new Operator(QUEUES.ordered, { transport }).configure({ order: "strict" });
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
