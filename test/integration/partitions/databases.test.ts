import { slotOf } from "../../../src/queue/core/partition-slots.ts";
import { fetchMap } from "../../../src/queue/partitions/map-calls.ts";
import { nameOfPartition, queueKeys } from "../../../src/queue/core/keys.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databases, type DatabasesTransport, Queue, sweep } from "../../../src/index.ts";
import { resp } from "../../../src/transport/resp.ts";
import { startRedis, type TestRedis } from "../../support/redis.ts";

const retry = { deadline: 4_000, tryTimeout: 3_000 };
const PARTITIONS = 6;

describe("partitions over three databases", () => {
  let servers: TestRedis[];
  let connections: ReturnType<typeof resp>[];
  /** That of another function instance, which knows nothing of databases that are down. */
  let instance: () => DatabasesTransport;
  const queueOf = (transport: DatabasesTransport) =>
    new Queue("emails", { transport, partitions: PARTITIONS });

  beforeAll(async () => {
    servers = await Promise.all([startRedis(), startRedis(), startRedis()]);
    connections = servers.map(({ url }) => resp({ url, retry }));
    instance = () => databases(connections.map(({ send }) => ({ send })));
  });
  afterAll(async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    await Promise.all(servers.map((server) => server.stop()));
  });

  /** Takes all tasks and completes them; their payloads. */
  const drainAll = async (queue: Queue) => {
    const payloads: unknown[] = [];
    for (;;) {
      const tasks = await queue.dequeue({ max: 20 });
      if (tasks.length === 0) return payloads;
      await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
      payloads.push(...tasks.map(({ payload }) => payload));
    }
  };

  test("each partition is in one database, and the tasks of all are done once", async () => {
    const queue = queueOf(instance());
    await queue.enqueueMany(Array.from({ length: 120 }, (_, i) => ({ payload: i, id: `t${i}` })));
    const found = await Promise.all(
      connections.map(async ({ send }) => {
        const commands = Array.from({ length: PARTITIONS }, (_, p) => {
          return ["LLEN", queueKeys(nameOfPartition("emails", p)).pending] as const;
        });
        return (await send(commands)).map((outcome) =>
          "reply" in outcome ? Number(outcome.reply) > 0 : null,
        );
      }),
    );
    const own = (database: number) => Array.from({ length: PARTITIONS }, (_, p) => p % 3 === database);
    expect(found).toEqual([own(0), own(1), own(2)]);
    expect((await queue.counts()).pending).toBe(120);
    const done = await drainAll(queueOf(instance()));
    expect(done.toSorted((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 120 }, (_, i) => i));
    expect(await queue.get("t17")).toMatchObject({ state: "completed" });
  });

  test("one that is down stops only its partitions", async () => {
    const transport = instance();
    const queue = queueOf(transport);
    await queue.enqueueMany(Array.from({ length: 60 }, (_, i) => ({ payload: `before-${i}`, id: `b${i}` })));
    const groups = Array.from({ length: 40 }, (_, i) => ({ payload: `group-${i}`, group: `g${i}` }));
    const grouped = await queue.enqueueMany(groups, { idempotencyKey: "groups" });
    const { owners } = await fetchMap({ name: "emails", prefix: undefined, transport });
    await servers[1]?.kill();
    // Such an id does not say where its task is. One that a database in use knows is found.
    const isUp = (text: string) => (owners[slotOf(text)] as number) % 3 !== 1;
    const findable = grouped.filter(({ id }, i) => isUp(id) && isUp(`g${i}`));
    expect(findable.length).toBeGreaterThan(4);
    for (const { id } of findable) expect(await queue.get(id)).toMatchObject({ id, state: "pending" });
    const failed: unknown[] = [];
    const enqueued: string[] = [];
    for (let i = 0; i < 400; i++) {
      await queue.enqueue(`during-${i}`).then(
        () => enqueued.push(`during-${i}`),
        (error: unknown) => failed.push(error),
      );
    }
    // Only the call that finds out fails. The tasks of the others are in other databases.
    expect(failed.length).toBeLessThanOrEqual(1);
    const consumer = queueOf(instance());
    const done = await drainAll(consumer);
    expect(done).toEqual(expect.arrayContaining(enqueued));
    const before = done.filter((payload) => String(payload).startsWith("before-"));
    expect(before.length).toBeGreaterThan(20);
    expect(before.length).toBeLessThan(60);
    const down = Array.from({ length: 60 }, (_, i) => `b${i}`).find(
      (id) => !before.includes(`before-${id.slice(1)}`),
    );
    await expect(queue.enqueue(1, { id: down })).rejects.toMatchObject({ code: "redis_unreachable" });
  });

  test("sweeps go on with the partitions that can be reached", async () => {
    const { failed, queues } = await sweep(instance());
    expect({ failed, queues }).toEqual({
      failed: [{ queue: "emails", code: "redis_unreachable" }],
      queues: 1,
    });
  });
});

test("without the first database, which has the maps, only an instance that has read the map goes on", async () => {
  const servers = await Promise.all([startRedis(), startRedis()]);
  const connections = servers.map(({ url }) => resp({ url, retry }));
  const queueOfInstance = () => {
    const transport = databases(connections.map(({ send }) => ({ send })));
    return new Queue("emails", { transport, partitions: PARTITIONS });
  };
  try {
    const queue = queueOfInstance();
    // So many that the instance has noted each partition.
    await queue.enqueueMany(Array.from({ length: 60 }, (_, i) => ({ payload: i, id: `b${i}` })));
    await servers[0]?.kill();
    let failures = 0;
    for (let i = 0; i < 40; i++) await queue.enqueue("during").catch(() => failures++);
    // Only the call that finds out fails.
    expect(failures).toBeLessThanOrEqual(1);
    const other = queueOfInstance();
    await expect(other.enqueue(1)).rejects.toMatchObject({ code: "redis_unreachable" });
    await expect(other.dequeue()).rejects.toMatchObject({ code: "redis_unreachable" });
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
    await Promise.all(servers.map((server) => server.stop()));
  }
});

test("databases takes at least two transports", () => {
  expect(() => databases([resp("redis://localhost:1")])).toThrow(
    "transports must be a list of at least two transports",
  );
});
