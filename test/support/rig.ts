import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { Operator, Queue, type QueueOptions } from "../../src/index.ts";
import type { QueueBaseOptions } from "../../src/open/options.ts";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { callOf } from "../../src/kernel/scripts/binding.ts";
import { sweepScript } from "../../src/kernel/scripts/sweep-scripts.ts";
import type { Transport } from "../../src/kernel/transport.ts";
import { resp } from "../../src/transports/resp.ts";
import { connectionTo } from "./connection.ts";
import { inEdition } from "./edition.ts";
import { violations } from "./invariants.ts";
import { queueSpace, readKeySpace, type KeySpace, type QueueSpace } from "./key-space.ts";
import { partitionSpaces, unregistered } from "./partition-spaces.ts";
import { startRedis } from "./redis.ts";
import { sharedRedis, type SharedRedis } from "./shared-redis.ts";

/** A test file's Redis, emptied before each test, and a clock that tests move. */
export interface Rig {
  readonly redis: SharedRedis;
  /** Replaced before each test, because it holds the memory of a function instance. */
  transport: Transport;
  /** The scripts' time, epoch ms. */
  now: number;
  queue<In = unknown, Out = In>(options?: Partial<QueueOptions<In, Out>>): Queue<In, Out>;
  operator(options?: Partial<QueueBaseOptions>): Operator;
  /** One call of the sweep script for that queue: its raw reply, without `nextDueAt`. */
  sweepOnce(limit?: number): Promise<unknown>;
  /** Sends a raw Redis command, without the product's code. */
  command(...args: string[]): Promise<unknown>;
  keySpace(): Promise<KeySpace>;
  space(): Promise<QueueSpace>;
}

/** The queue of {@link Rig.queue}. */
export const QUEUE = "emails";

/** The raw key of a part of that queue. */
export const key = (part: string) => `sluice:{${QUEUE}}:${part}`;

export const START = 1_700_000_000_000;

interface Setup {
  /** False: the invariants are not checked after each test. @default true */
  readonly checkInvariants?: boolean;
  /** Arguments of redis-server: the file then has a Redis of its own. @default none, a shared one */
  readonly args?: readonly string[];
}

/** Registers the rig's set-up with vitest; after each test every invariant must hold. */
export function useRig(setup: Setup = {}): Rig {
  const rig = { now: START } as { -readonly [K in keyof Rig]: Rig[K] };
  const client = { current: undefined as ReturnType<typeof connectionTo> | undefined };
  let connection: ReturnType<typeof resp>;

  rig.queue = <In, Out>(options: Partial<QueueOptions<In, Out>> = {}) =>
    new Queue<In, Out>(QUEUE, { transport: rig.transport, now: () => rig.now, ...options });
  rig.operator = (options = {}) =>
    new Operator(QUEUE, { transport: rig.transport, now: () => rig.now, ...options });
  rig.sweepOnce = async (limit = 1_000) => {
    const args = { testNow: String(rig.now), limit: String(limit), wake: "", ahead: "" };
    const [outcome] = await rig.transport.send([callOf(sweepScript, queueKeys(QUEUE), args)]);
    if (!outcome || !("reply" in outcome) || !Array.isArray(outcome.reply)) return outcome;
    // Without when the next task is due, which these calls do not ask for.
    return outcome.reply.toSpliced(8, 1);
  };
  rig.command = async (...args) => client.current?.sendCommand(args);
  rig.keySpace = () => readKeySpace(client.current ?? rig.redis.url);
  rig.space = async () => queueSpace(await rig.keySpace(), QUEUE);

  beforeAll(async () => {
    rig.redis = setup.args ? await startRedis({ args: setup.args }) : await sharedRedis();
    connection = resp(rig.redis.url);
    client.current = connectionTo(rig.redis.url);
    await client.current.connect();
  });
  beforeEach(async () => {
    await rig.command("FLUSHALL");
    // A new transport, because it holds the memory of a function instance.
    rig.transport = inEdition({ send: (commands, options) => connection.send(commands, options) });
    rig.now = START;
  });
  afterEach(async () => {
    if (setup.checkInvariants === false) return;
    const space = await rig.keySpace();
    for (const [partition, own] of partitionSpaces(space, QUEUE)) {
      expect(violations(own), `partition ${partition}`).toEqual([]);
    }
    expect(unregistered(space, QUEUE)).toEqual([]);
  });
  afterAll(async () => {
    await connection.close();
    client.current?.destroy();
    await rig.redis.stop();
  });
  return rig;
}
