/** A queue with work for every script, and the instances that call them. */
import { vi } from "vitest";
import { connectRedis } from "../../../src/local/gateway/redis.ts";
import { Operator, Queue, Schedules, type QueueOptions, type Transport } from "../../../src/index.ts";
import { fixChance } from "../../support/day.ts";
import { numbered } from "../../support/new-tasks.ts";
import { fillEndpoints } from "./endpoint-operations.ts";
import { fillLedger } from "./order-operations.ts";
import { key, QUEUE, START, type Rig } from "../../support/rig.ts";

/** When the calls are made: everything delayed until then is due. */
const NOW = START + 240_000;
export const now = (): number => NOW;
export const worker = { name: "w", incarnation: "1", silentAfter: "1h" } as const;

/** What a call works with. Its transport has no memory of earlier calls. */
export class Caller {
  readonly transport: Transport;
  readonly operator: Operator;
  readonly schedules: Schedules;
  /** Receipts of working tasks, leased long enough. */
  readonly receipts: readonly string[];
  /** Queues whose consumer was woken. */
  readonly woken: string[] = [];

  constructor(over: Transport, receipts: readonly string[]) {
    this.transport = { send: (commands, options) => over.send(commands, options) };
    this.receipts = receipts;
    this.operator = new Operator(QUEUE, { transport: this.transport, now });
    this.schedules = new Schedules(QUEUE, { transport: this.transport, now });
  }

  /** The same caller in another instance of its function. */
  again(over: Transport): Caller {
    return new Caller(over, this.receipts);
  }

  queue(options: Partial<QueueOptions> = {}, name = QUEUE): Queue {
    return new Queue(name, { transport: this.transport, now, ...options });
  }

  /** A queue that notes each wake instead of sending it. */
  waking(): Queue {
    return this.queue({ wake: this.wake });
  }

  /** An operator that notes each wake instead of sending it. */
  wakingOperator(): Operator {
    return new Operator(QUEUE, { transport: this.transport, now, wake: this.wake });
  }

  readonly wake = { wake: (queue: string) => this.woken.push(queue) };
}

/** Fills the rig's Redis. Returns receipts of working tasks. */
async function fill(rig: Rig): Promise<string[]> {
  fixChance();
  const queue = rig.queue();
  const operator = rig.operator();
  rig.now = START - 360_000;
  await queue.enqueue("ancient", { id: "ancient" });
  await (await queue.dequeue())[0]?.complete();
  rig.now = START;
  await operator.configure({ statistics: true, events: true });
  await operator.configureGroup("capped", { maxWorking: 1 });
  await operator.configureGroup("slow", { rate: { most: 2, per: "1h" } });
  await queue.enqueueMany([
    ...numbered(1, { resultTtl: "1m" }, "old"),
    ...numbered(2, {}, "done"),
    ...numbered(3, {}, "dead"),
    ...numbered(5, {}, "mine"),
    ...numbered(3, {}, "hand"),
    ...numbered(1, { maxAttempts: 1 }, "last"),
    ...numbered(2, {}, "lapsed"),
  ]);
  for (const task of await queue.dequeue({ max: 3 })) await task.complete("result");
  for (const task of await queue.dequeue({ max: 3 })) await task.reject("no");
  const mine = await queue.dequeue({ max: 5, lease: "1h" });
  await queue.dequeue({ max: 3, lease: "1h", worker });
  await queue.dequeue({ max: 3, lease: "1s" });
  await queue.enqueueMany([
    ...numbered(4, {}, "p"),
    ...numbered(3, { group: "capped" }, "c"),
    ...numbered(3, { group: "slow" }, "s"),
    ...numbered(3, { group: "free", priority: 1 }, "f"),
    ...numbered(2, { delay: "1s" }, "due"),
    ...numbered(1, { delay: "1s", group: "free" }, "due-free"),
    ...numbered(1, { delay: "1d" }, "later"),
    { id: "keyed", payload: 1, dedup: { key: "k", window: "1m" } },
  ]);
  await queue.cancel("p0");
  const schedules = new Schedules(QUEUE, { transport: rig.transport, now: () => START });
  await schedules.put("x", { cron: "* * * * *", payload: 1, missed: "all" });
  await schedules.put("daily", { every: "1d", payload: 1 });
  // One queue that was in use and is empty, and one that is in use.
  await rig.command("ZADD", "sluice:queues", String(START - 7_200_000), "gone");
  const other = new Queue("other", { transport: rig.transport, now: () => START - 1_200_000 });
  await other.enqueue(1, { id: "one" });
  const booked = await fillLedger(rig.transport);
  await fillEndpoints(rig.transport);
  vi.restoreAllMocks();
  return [...mine, ...booked].map(({ receipt }) => receipt);
}

/** Damages a bit of everything, so that every script of the deep sweep has something to repair. */
async function damage(rig: Rig): Promise<void> {
  await rig.command("ZADD", key("working"), String(NOW + 1_000), "lost");
  await rig.command("LREM", key("pending"), "1", "p1");
  await rig.command("LPUSH", key("pending"), "p2");
  await rig.command("HSET", key("tasks"), "~g:free", "1;w=7");
  await rig.command("HSET", key("tasks"), "~broken", "many");
}

type Dump = readonly (readonly [name: string, content: Buffer])[];

/** The state of the queue before each call: made once, and restored any number of times. */
export async function startingPoint(rig: Rig) {
  const direct = await connectRedis(rig.redis.url, () => {});
  const dump = async (): Promise<Dump> => {
    const names = (await direct.send(["KEYS", "*"])) as Buffer[];
    return Promise.all(
      names.map(async (name) => [String(name), (await direct.send(["DUMP", name])) as Buffer] as const),
    );
  };
  const receipts = await fill(rig);
  const sound = await dump();
  await damage(rig);
  const damaged = await dump();
  return {
    /**
     * Restores it. Random numbers and the client's clock are the same each time, until mocks are restored.
     */
    async begin(over: Transport, inDamage: boolean): Promise<Caller> {
      const keys = inDamage ? damaged : sound;
      await direct.send(["FLUSHALL"]);
      await Promise.all(keys.map(([name, content]) => direct.send(["RESTORE", name, "0", content])));
      rig.now = NOW;
      fixChance();
      return new Caller(over, receipts);
    },
    close: () => direct.close(),
  };
}
