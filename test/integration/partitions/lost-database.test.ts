import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { databases, Operator, Queue, sweep } from "../../../src/index.ts";
import { nameOfPartition, queueKeys } from "../../../src/queue/core/keys.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { owning } from "../../../src/queue/partitions/map.ts";
import { replyAt } from "../../../src/queue/redis/replies.ts";
import type { Command } from "../../../src/queue/redis/transport.ts";
import { resp } from "../../../src/transport/resp.ts";
import { startRedis, type TestRedis } from "../../support/redis.ts";

// A queue over two databases. The first one has the registry, the map and partition 0, and loses some or all of them.
// Then the queue gets a map again, for another number of partitions. Tasks of other partitions have outlived the loss.

const QUEUE = "emails";
let servers: TestRedis[];
let connections: ReturnType<typeof resp>[];
let now = 0;

beforeAll(async () => {
  servers = await Promise.all([startRedis(), startRedis()]);
  connections = servers.map(({ url }) => resp({ url }));
});
afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
  await Promise.all(servers.map((server) => server.stop()));
});
beforeEach(async () => {
  now = 1_800_000_000_000;
  for (const { send } of connections) await send([["FLUSHALL"]]);
});

/** The transport of a new function instance, which remembers nothing. */
const instance = () => databases(connections.map(({ send }) => ({ send })));
const queueOf = (partitions: number | "stored", transport = instance()) =>
  new Queue<string>(QUEUE, { transport, partitions, now: () => now });
const map = () => fetchMap({ name: QUEUE, prefix: undefined, transport: instance() });

async function run(...commands: Command[]): Promise<unknown[]> {
  const outcomes = await instance().send(commands);
  return outcomes.map((outcome) => ("reply" in outcome ? outcome.reply : outcome.error));
}

const PARTITIONS = Array.from({ length: 62 }, (_, partition) => partition);
const hashOf = (partition: number) => queueKeys(nameOfPartition(QUEUE, partition)).tasks;

/** Which partitions have each of the ids. */
async function having(ids: readonly string[]): Promise<number[][]> {
  const found = await run(...PARTITIONS.map((partition): Command => ["HMGET", hashOf(partition), ...ids]));
  return ids.map((_, i) => PARTITIONS.filter((partition) => (found[partition] as unknown[])[i] !== null));
}

const losses = {
  "all data": () => connections[0]?.send([["FLUSHALL"]]),
  "the map and the markers": async () => {
    const keys = (await run(["KEYS", `sluice:{${QUEUE}}:*`]))[0] as string[];
    await run(["DEL", ...keys], ["HDEL", "{sluice:queues}:maps", QUEUE]);
  },
  "the map": () => run(["HDEL", "{sluice:queues}:maps", QUEUE]),
};

const names = Array.from({ length: 60 }, (_, i) => `order-${i}`);
const batch = { idempotencyKey: "batch" };
/** Enqueues a task for each name. The payloads are the names. */
const kinds = {
  "with ids": (queue: Queue<string>) => queue.enqueueMany(names.map((id) => ({ payload: id, id }))),
  "of a keyed call": (queue: Queue<string>) =>
    queue.enqueueMany(
      names.map((payload) => ({ payload })),
      batch,
    ),
  "of groups and a keyed call": (queue: Queue<string>) =>
    queue.enqueueMany(
      names.map((group) => ({ payload: group, group })),
      batch,
    ),
  "with dedup keys": (queue: Queue<string>) =>
    queue.enqueueMany(names.map((key) => ({ payload: key, dedup: { key, window: "1h" as const } }))),
};

/** Sweeps until no former partition is left in the map. */
async function sweepUntilSettled(): Promise<void> {
  for (let hours = 0; hours < 60 && (await map()).former.length > 0; hours++) {
    now += 3_600_000;
    expect(await sweep(instance(), { now: () => now })).toMatchObject({ failed: [] });
  }
  expect(await map()).toMatchObject({ next: undefined, former: [] });
}

/** Saves what the first database has. @returns puts it back */
async function saved(): Promise<() => Promise<void>> {
  const send = async (...commands: Command[]) => (await connections[0]?.send(commands)) ?? [];
  const keysNow = async () => replyAt(await send(["KEYS", "*"]), 0) as string[];
  const keys = await keysNow();
  await send(...keys.map((key): Command => ["COPY", key, `saved:${key}`]));
  return async () => {
    const others = (await keysNow()).filter((key) => !key.startsWith("saved:"));
    await send(["DEL", ...others], ...keys.map((key): Command => ["RENAME", `saved:${key}`, key]));
    expect((await keysNow()).toSorted()).toEqual(keys.toSorted());
  };
}

/** Takes all tasks, as a function instance that remembers nothing. */
async function drain(): Promise<string[]> {
  const queue = queueOf("stored");
  const payloads: string[] = [];
  for (;;) {
    const tasks = await queue.dequeue({ max: 50 });
    if (tasks.length === 0) return payloads.toSorted();
    await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
    payloads.push(...tasks.map(({ payload }) => payload));
  }
}

describe.each(Object.keys(losses) as (keyof typeof losses)[])("if the first database loses %s", (loss) => {
  describe.each([
    [2, 4],
    [4, 2],
    [4, 4],
  ])("and a queue of %i partitions then gets %i", (before, after) => {
    test.each(Object.keys(kinds) as (keyof typeof kinds)[])("no task %s is created twice", async (kind) => {
      const add = kinds[kind];
      const informed = instance();
      const ids = (await add(queueOf(before, informed))).map(({ id }) => id);
      await losses[loss]();
      const left = (await having(ids)).map((partitions) => partitions.length > 0);
      expect(new Set(left)).toEqual(new Set(loss === "all data" ? [true, false] : [true]));
      const results = await Promise.all([
        add(queueOf(after)),
        add(queueOf(after)),
        add(queueOf(before, informed)),
      ]);
      results.push(await add(queueOf(before, informed)), await add(queueOf("stored")));
      // A copy of a keyed call gets the results of the first one.
      if (!kind.endsWith("keyed call")) {
        const created = names.map((_, i) => results.filter((result) => result[i]?.created).length);
        expect(created).toEqual(left.map((isLeft) => (isLeft ? 0 : 1)));
      }

      const live = results[0]?.map(({ id }) => id) ?? [];
      expect((await having(live)).map(({ length }) => length)).toEqual(live.map(() => 1));
      const found = await Promise.all(live.map((id) => queueOf("stored").get(id)));
      expect(found).toMatchObject(live.map((id) => ({ id, state: "pending" })));
      expect(await queueOf("stored").counts()).toMatchObject({ pending: names.length });
      expect(await drain()).toEqual(names.toSorted());
      await sweepUntilSettled();
      // Two callers have asked for different numbers. The first one's counts.
      expect([before, after]).toContain(owning(await map()).length);
    });
  });
});

test("a queue that gets another map delivers what is left, also in partitions that the map does not name", async () => {
  await kinds["with ids"](queueOf(4));
  await losses["all data"]();
  const left = await having(names);
  expect(new Set(left.flat())).toEqual(new Set([1, 3]));
  await new Operator(QUEUE, { transport: instance(), now: () => now }).resize(2);
  expect(await drain()).toEqual(names.filter((_, i) => left[i]?.length === 1).toSorted());
});

test("no id is created twice if the first database is as it was under an earlier map, and the map then changes", async () => {
  const operator = () => new Operator(QUEUE, { transport: instance(), now: () => now });
  const half = names.slice(0, 30);
  const add = (queue: Queue<string>, ids: readonly string[]) =>
    queue.enqueueMany(ids.map((id) => ({ payload: id, id })));
  await add(queueOf(2), half);
  const restore = await saved();
  await operator().resize(4);
  await add(queueOf("stored"), names);
  await restore();
  const left = await having(names);
  await operator().resize(3);
  const results = await add(queueOf("stored"), names);
  expect(results.map(({ created }) => created)).toEqual(left.map(({ length }) => length === 0));
  expect(await drain()).toEqual(names.toSorted());
  await sweepUntilSettled();
  expect(owning(await map())).toEqual([0, 1, 2]);
});
