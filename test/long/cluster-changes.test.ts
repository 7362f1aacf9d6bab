import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Queue } from "../../src/index.ts";
import { queueKeys, registryKey } from "../../src/queue/core/keys.ts";
import { hashSlot } from "../../src/transport/hash-slot.ts";
import { resp } from "../../src/transport/resp.ts";
import { failOver, killMaster, migrateSlot } from "../support/cluster-changes.ts";
import { type ClusterMember, startCluster, type TestCluster } from "../support/redis-cluster.ts";
import { ClusterLoad, QUEUES } from "./cluster-load.ts";

// Each test changes the cluster under load. Nothing that was acknowledged may be lost, and nothing done twice.

let cluster: TestCluster;
let transport: ReturnType<typeof resp>;
let load: ClusterLoad;

const slotOfQueue = (name: string) => hashSlot(queueKeys(name).tasks);
const [first] = QUEUES as [string];

beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());
beforeEach(async () => {
  await cluster.settled();
  await cluster.empty();
  transport = resp({
    url: cluster.url,
    retry: { deadline: 30_000, tryTimeout: 3_000, longestWait: 100 },
  });
  load = new ClusterLoad(transport);
  load.start();
  await load.more(20);
});
afterEach(() => transport.close());

/** The load goes on for a while; then all that it did must be right. */
async function verdict(): Promise<void> {
  await load.more(20);
  expect(await load.stop()).toEqual([]);
}

test("a slot moves there and back while scripts run on its keys", async () => {
  const slot = slotOfQueue(first);
  const from = await cluster.masterOf(slot);
  const to = (await cluster.masters()).find(({ id }) => id !== from.id) as ClusterMember;
  await migrateSlot(cluster, slot, to, () => sleep(40));
  expect((await cluster.masterOf(slot)).id).toBe(to.id);
  await load.more(10);
  await migrateSlot(cluster, slot, from, () => sleep(40));
  await verdict();
});

test("the registry's slot moves while queues are registered and swept", async () => {
  const slot = hashSlot(registryKey());
  const from = await cluster.masterOf(slot);
  const to = (await cluster.masters()).find(({ id }) => id !== from.id) as ClusterMember;
  let queues = 0;
  const enqueueIntoNew = () => new Queue(`new-${queues++}`, { transport }).enqueue(1);
  await migrateSlot(cluster, slot, to, async () => {
    await enqueueIntoNew();
    await sleep(40);
  });
  for (let i = 0; i < queues; i++)
    expect(await new Queue(`new-${i}`, { transport }).counts()).toMatchObject({ pending: 1 });
  await verdict();
});

test("all masters hand over to their replicas, one after the other", async () => {
  for (const master of await cluster.masters()) {
    await failOver(cluster, master);
    await load.more(5);
  }
  await verdict();
});

test("a master is killed, and its replica promoted: all that the replica had is there", async () => {
  const master = await cluster.masterOf(slotOfQueue(first));
  const next = await killMaster(cluster, master);
  await load.more(10);
  expect((await cluster.masterOf(slotOfQueue(first))).id).toBe(next.id);
  await master.redis.restart();
  await cluster.settled();
  expect((await cluster.replicaOf(next)).id).toBe(master.id);
  await verdict();
});

test("a node is added, and gets slots that are in use", async () => {
  const added = await cluster.add();
  for (const name of QUEUES.slice(0, 3))
    await migrateSlot(cluster, slotOfQueue(name), added, () => sleep(20));
  expect((await cluster.masters()).map(({ id }) => id)).toContain(added.id);
  await verdict();
});
