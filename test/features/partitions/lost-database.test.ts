import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { databases, type EnqueueOptions, type Queue, type Transport } from "../../../src/index.ts";
import { owning } from "../../../src/features/partitions/map.ts";
import type { Command } from "../../../src/kernel/transport.ts";
import { resp } from "../../../src/transports/resp.ts";
import { instances } from "../../support/instances.ts";
import { named } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { sharedRedis, type SharedRedis } from "../../support/shared-redis.ts";

// A queue over two databases. The first one has the registry, the map and partition 0, and loses some or all of them.
// Then the queue gets a map again, for another number of partitions. Tasks of other partitions have outlived the loss.

const rig = useRig({ checkInvariants: false });
const { instance, queueOf, map, resize, keysIn, sweepAll, drainAll } = instances(rig);
let second: { readonly redis: SharedRedis; readonly connection: ReturnType<typeof resp> };

beforeAll(async () => {
  const redis = await sharedRedis();
  second = { redis, connection: resp(redis.url) };
});
afterAll(async () => {
  await second.connection.close();
  await second.redis.stop();
});
beforeEach(async () => {
  await second.connection.send([["FLUSHALL"]]);
  rig.transport = databases([rig.transport, { send: second.connection.send }]);
});

const PARTITIONS = Array.from({ length: 62 }, (_, partition) => partition);

/** Which partitions have each of the ids. */
async function having(ids: readonly string[]): Promise<number[][]> {
  const commands = PARTITIONS.map((partition): Command => ["HMGET", keysIn(partition).tasks, ...ids]);
  const found = (await rig.transport.send(commands)) as { reply: unknown[] }[];
  return ids.map((_, i) => PARTITIONS.filter((partition) => found[partition]?.reply[i] !== null));
}

const losses = {
  "all data": () => rig.command("FLUSHALL"),
  "the map and the markers": async () => {
    const keys = (await rig.command("KEYS", `sluice:{${QUEUE}}:*`)) as string[];
    await rig.command("DEL", ...keys);
    await losses["the map"]();
  },
  "the map": () => rig.command("HDEL", "{sluice:queues}:maps", QUEUE),
};

const names = Array.from({ length: 40 }, (_, i) => `order-${i}`);
/** Enqueues a task for each name. */
const adding = (options: (name: string) => EnqueueOptions, isKeyed: boolean) => (queue: Queue) =>
  queue.enqueueMany(
    names.map((payload) => ({ payload, ...options(payload) })),
    isKeyed ? { idempotencyKey: "batch" } : {},
  );
const kinds = {
  "with ids": adding((id) => ({ id }), false),
  "of a keyed call": adding(() => ({}), true),
  "of groups and a keyed call": adding((group) => ({ group }), true),
  "with dedup keys": adding((key) => ({ dedup: { key, window: "1h" } }), false),
};

/** Sweeps until no former partition is left in the map. */
async function sweepUntilSettled(): Promise<void> {
  for (let hours = 0; hours < 60 && (await map()).former.length > 0; hours++) {
    rig.now += 3_600_000;
    await sweepAll();
  }
  expect(await map()).toMatchObject({ next: undefined, former: [] });
}

describe.each(Object.keys(losses) as (keyof typeof losses)[])("if the first database loses %s", (loss) => {
  describe.each([
    [2, 4],
    [4, 2],
    [4, 4],
  ])("and a queue of %i partitions then gets %i", (before, after) => {
    test.each(Object.keys(kinds) as (keyof typeof kinds)[])("no task %s is created twice", async (kind) => {
      const add = kinds[kind];
      const informed: Transport = instance();
      const ids = (await add(queueOf(before, informed))).map(({ id }) => id);
      await losses[loss]();
      const left = (await having(ids)).map((partitions) => partitions.length > 0);
      expect(new Set(left)).toEqual(new Set(loss === "all data" ? [true, false] : [true]));
      const queues = [queueOf(after), queueOf(after), queueOf(before, informed)];
      const results = await Promise.all(queues.map(add));
      results.push(await add(queueOf(before, informed)), await add(queueOf("stored")));
      // A copy of a keyed call gets the results of the first one.
      if (!kind.endsWith("keyed call")) {
        const created = names.map((_, i) => results.filter((result) => result[i]?.created).length);
        expect(created).toEqual(left.map((isLeft) => (isLeft ? 0 : 1)));
      }

      const live = results[0]?.map(({ id }) => id) ?? [];
      expect((await having(live)).map(({ length }) => length)).toEqual(live.map(() => 1));
      const reader = queueOf("stored");
      const found = await Promise.all(live.map((id) => reader.get(id, { payload: true })));
      expect(found).toMatchObject(live.map((id, i) => ({ id, state: "pending", payload: names[i] })));
      expect(await reader.counts()).toMatchObject({ pending: names.length });
      expect(await drainAll()).toEqual(live.toSorted());
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
  await resize(2);
  expect(await drainAll()).toEqual(names.filter((_, i) => left[i]?.length === 1).toSorted());
});

test("no id is created twice if the first database is as it was under an earlier map, and the map then changes", async () => {
  await queueOf(2).enqueueMany(named(names.slice(0, 20)));
  const keys = (await rig.command("KEYS", "*")) as string[];
  for (const key of keys) await rig.command("COPY", key, `saved:${key}`);
  await resize(4);
  await queueOf("stored").enqueueMany(named(names));
  const others = (await rig.command("KEYS", "*")) as string[];
  await rig.command("DEL", ...others.filter((key) => !key.startsWith("saved:")));
  for (const key of keys) await rig.command("RENAME", `saved:${key}`, key);
  const left = await having(names);
  await resize(3);
  const results = await queueOf("stored").enqueueMany(named(names));
  expect(results.map(({ created }) => created)).toEqual(left.map(({ length }) => length === 0));
  expect(await drainAll()).toEqual(names.toSorted());
  await sweepUntilSettled();
  expect(owning(await map())).toEqual([0, 1, 2]);
});
