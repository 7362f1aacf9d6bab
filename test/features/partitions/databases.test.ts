import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import {
  databases,
  type DatabasesTransport,
  Queue,
  SluiceError,
  sweep,
  type Transport,
} from "../../../src/index.ts";
import { slotOf } from "../../../src/kernel/names/slots.ts";
import { fetchMap } from "../../../src/features/partitions/map-calls.ts";
import { resp } from "../../../src/transports/resp.ts";
import { instances } from "../../support/instances.ts";
import { many, numbered } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { sharedRedis, type SharedRedis } from "../../support/shared-redis.ts";

// Partitions over three databases, of which some cannot be reached.

const rig = useRig({ checkInvariants: false });
const { keysIn, drainAll } = instances(rig);
const ALL = [0, 1, 2, 3, 4, 5];

let others: { readonly redis: SharedRedis; readonly connection: ReturnType<typeof resp> }[];
/** Which databases are down, and how often each was asked meanwhile. */
const down = new Map<number, number>();
/** What `performance.now()` returns, ms. */
let clock = 0;

beforeAll(async () => {
  const redis = [await sharedRedis(), await sharedRedis()];
  others = redis.map((one) => ({ redis: one, connection: resp(one.url) }));
});
beforeEach(async () => {
  down.clear();
  for (const { connection } of others) await connection.send([["FLUSHALL"]]);
  vi.spyOn(performance, "now").mockImplementation(() => clock);
});
afterEach(() => void vi.restoreAllMocks());
afterAll(async () => {
  for (const { redis, connection } of others) {
    await connection.close();
    await redis.stop();
  }
});

const reachable = (): Transport[] => [rig.transport, ...others.map(({ connection }) => connection)];
/** The transport of another function instance, which knows nothing of databases that are down. */
const instance = (): DatabasesTransport =>
  databases(
    reachable().map((one, at) => ({
      async send(...sent) {
        const asked = down.get(at);
        if (asked === undefined) return one.send(...sent);
        down.set(at, asked + 1);
        throw new SluiceError("redis_unreachable", "the database is down");
      },
    })),
  );
const queueOf = (transport = instance()) =>
  new Queue(QUEUE, { transport, partitions: ALL.length, now: () => rig.now });
const unreachable = { code: "redis_unreachable" };

/** Enqueues 100 tasks without ids, one by one, of which only the call that finds out that a database is down fails. */
async function enqueueDuring(queue: Queue): Promise<string[]> {
  const ids: string[] = [];
  for (const { payload } of many(100)) {
    await queue.enqueue(payload).then(
      ({ id }) => ids.push(id),
      () => {},
    );
  }
  expect(ids.length).toBeGreaterThanOrEqual(99);
  return ids;
}

test("each partition is in one database, and the tasks of all are done once", async () => {
  const queue = queueOf();
  await queue.enqueueMany(numbered(120));
  const commands = ALL.map((partition) => ["LLEN", keysIn(partition).pending] as const);
  const found = await Promise.all(reachable().map(({ send }) => send(commands)));
  const has = found.map((outcomes) =>
    outcomes.map((outcome) => ("reply" in outcome ? Number(outcome.reply) > 0 : null)),
  );
  expect(has).toEqual([0, 1, 2].map((database) => ALL.map((partition) => partition % 3 === database)));
  expect((await queue.counts()).pending).toBe(120);
  const ids = numbered(120).map(({ id }) => id);
  expect(await drainAll(queueOf())).toEqual(ids.toSorted());
  expect(await queue.get("t17")).toMatchObject({ state: "completed" });
});

test("one that is down stops only its partitions", async () => {
  const transport = instance();
  const queue = queueOf(transport);
  await queue.enqueueMany(numbered(60));
  const groups = Array.from({ length: 40 }, (_, i) => ({ payload: i, group: `g${i}` }));
  const grouped = await queue.enqueueMany(groups, { idempotencyKey: "groups" });
  const { owners } = await fetchMap({ name: QUEUE, prefix: undefined, transport });
  down.set(1, 0);
  // Such an id does not say where its task is. One that a database in use knows is found.
  const isUp = (text: string) => (owners[slotOf(text)] as number) % 3 !== 1;
  const findable = grouped.filter(({ id }, i) => isUp(id) && isUp(`g${i}`));
  expect(findable.length).toBeGreaterThan(4);
  for (const { id } of findable) expect(await queue.get(id)).toMatchObject({ id, state: "pending" });
  const enqueued = await enqueueDuring(queue);
  expect(down.get(1)).toBe(1);
  const done = await drainAll(queueOf());
  expect(done).toEqual(expect.arrayContaining(enqueued));
  const [left, lost] = [true, false].map((is) => numbered(60).filter(({ id }) => isUp(id) === is));
  expect(done.filter((id) => /^t\d+$/.test(id))).toEqual(left!.map(({ id }) => id).toSorted());
  await expect(queue.enqueueMany(lost!.slice(0, 1))).rejects.toMatchObject(unreachable);
  const { failed, queues } = await sweep(instance(), { now: () => rig.now });
  expect({ failed, queues }).toEqual({ failed: [{ queue: QUEUE, ...unreachable }], queues: 1 });
});

test("without the first, which has the maps, only an instance that has read the map goes on", async () => {
  const queue = queueOf();
  // So many that the instance has noted each partition.
  await queue.enqueueMany(numbered(60));
  down.set(0, 0);
  await enqueueDuring(queue);
  await expect(queueOf().enqueue(1)).rejects.toMatchObject(unreachable);
  await expect(queueOf().dequeue()).rejects.toMatchObject(unreachable);
});

test("one that was down is asked again after ten seconds", async () => {
  const transport = instance();
  await queueOf(transport).enqueueMany(numbered(60));
  down.set(1, 0);
  for (const after of [0, 9_999, 1]) {
    clock += after;
    await expect(queueOf(transport).counts()).rejects.toMatchObject(unreachable);
  }
  expect(down.get(1)).toBe(2);
  down.clear();
  clock += 10_000;
  expect(await queueOf(transport).counts()).toMatchObject({ pending: 60 });
});

test("databases takes at least two transports", () => {
  expect(() => databases([resp("redis://localhost:1")])).toThrow(
    "transports must be a list of at least two transports",
  );
});
